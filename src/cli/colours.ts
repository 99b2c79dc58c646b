import pc from 'picocolors'

/** Colours for a terminal alone: not for a file, nor for a program that reads on, nor where NO_COLOR asks for none. */
function coloursFor(stream: NodeJS.WriteStream) {
  const { NO_COLOR, FORCE_COLOR, TERM } = process.env
  const isAsked = FORCE_COLOR !== undefined && FORCE_COLOR !== '0' && FORCE_COLOR !== 'false'
  return pc.createColors(isAsked || (stream.isTTY === true && !NO_COLOR && TERM !== 'dumb'))
}

/** For what goes to standard output. */
export const colours = coloursFor(process.stdout)
/** For what goes to standard error. */
export const errorColours = coloursFor(process.stderr)
