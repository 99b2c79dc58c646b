/**
 * Options of Node for a process that lives for seconds: without its optimizing compiler for WebAssembly, which spends more
 * on the embedded database than so short a life gives back, a third of all that such a process takes.
 */
export const SHORT_LIVED = ['--liftoff-only'] as const
