// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CODES = /\u001b\[(?:0|1|2|22|3[0-79])m|[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g

/**
 * A text for a terminal, without what a terminal obeys: descriptions, reasons and messages of errors are written by others, who
 * could wipe the screen with them, or fill the clipboard. Our own colours, tabs and the ends of lines stay; all else is shown.
 */
export function harmless(text: string): string {
  return text.replace(CODES, (code) => (code.length > 1 ? code : shown(code.charCodeAt(0))))
}

const PICTURES = 0x2400
const PICTURE_OF_DELETE = '\u2421'

/** As the picture that Unicode has for it, such as ␛. */
function shown(code: number): string {
  if (code < 0x20) return String.fromCharCode(PICTURES + code)
  return code === 0x7f ? PICTURE_OF_DELETE : '\ufffd'
}
