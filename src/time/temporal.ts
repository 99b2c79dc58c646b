/** The one door to Temporal, so that the native one can replace the polyfill in one line. */
export { Temporal } from 'temporal-polyfill'
