/**
 * The browser's locale, or English where `Intl` does not take it: `LANG=C.UTF-8` makes it `en-US@posix`, and every use of that
 * throws.
 */
export function usableLocale(given: string | undefined): string {
  for (const locale of [given, given?.split(/[@.]/)[0]]) {
    try {
      if (locale && Intl.DateTimeFormat.supportedLocalesOf(locale).length > 0) return locale
    } catch {}
  }
  return 'en-GB'
}
