/** A simulation that found something wrong. The same seed and options find it again, at the same step. */
export class SimulationFailure extends Error {
  override readonly name = 'SimulationFailure'
  readonly seed: number
  /** How many statements were carried out by then. */
  readonly step: number
  readonly problems: readonly string[]
  /** What happened last, the newest at the end. */
  readonly events: readonly string[]

  constructor(
    problems: readonly string[],
    found: { seed: number; step: number; events: readonly string[]; cause?: unknown },
  ) {
    const { seed, step, events, cause } = found
    super(
      [
        `Seed ${seed} fails at step ${step}:`,
        ...problems.map((problem) => `  ${problem}`),
        'What happened last:',
        ...events.map((event) => `  ${event}`),
        `Replay it with simulate({ seed: ${seed}, … }) and the same other options.`,
      ].join('\n'),
      cause === undefined ? {} : { cause },
    )
    this.seed = seed
    this.step = step
    this.problems = problems
    this.events = events
  }
}
