import { type Command, Option } from 'commander'
import {
  EXPORT_DEFAULTS,
  type ExportManifest,
  type ExportPart,
  readExport,
} from '../../client/export-format.js'
import { EscapementError } from '../../errors.js'
import type { HttpClient } from '../../http-client/index.js'
import { durationToMs } from '../../time/duration.js'
import { colours, errorColours } from '../colours.js'
import { type ConnectionFlags, withConnection, withConnectionFlags } from '../connection.js'
import { expectFree, STANDARD_STREAM, writeExport } from '../export-file.js'
import { examples, type JsonFlag, show, withJsonFlag } from '../output.js'
import { createProgress } from '../progress.js'

interface ExportFlags extends ConnectionFlags, JsonFlag {
  output?: string
  move?: boolean
  wait: string
  force?: boolean
  undo?: boolean
}

export function addExport(program: Command): void {
  withJsonFlag(withConnectionFlags(program.command('export')))
    .summary('take everything out, as a backup or to move it')
    .description(
      'Writes everything to a file: schedules with their cursors, the ledger, runs and their history, the change log, jobs and\n' +
        'tokens. It can be taken from a server that runs. It holds all inputs: keep it as safe as the database.\n\n' +
        'With --move running handlers are waited for, and from the end of the export on nothing fires there any more, and\n' +
        'every change is refused: "escapement import" stores it where it goes on. The same export can be taken again.',
    )
    .option('-o, --output <file>', 'file to write, compressed if it ends in .gz; "-" is standard output')
    .option('--move', 'freeze what it is taken from: it goes on where the file is imported')
    .option('--wait <duration>', 'how long --move waits for running handlers', EXPORT_DEFAULTS.wait)
    .option('--force', 'replace a file that exists')
    .addOption(
      new Option('--undo', 'take a move back; the copy must not run, or both would fire').conflicts([
        'output',
        'move',
        'force',
      ]),
    )
    .addHelpText(
      'after',
      examples(
        'escapement export -o backup.ndjson.gz',
        'escapement export --move -o everything.ndjson.gz',
        'escapement export --move -o - | escapement import - --database postgres://app@localhost/app',
        'escapement export --undo',
      ),
    )
    .action((flags: ExportFlags, command: Command) => {
      if (flags.undo) return withConnection(flags, command, (client) => undo(client, flags))
      const { output } = flags
      if (output === undefined) {
        throw new EscapementError('option_invalid', {
          message: 'Where to? Name a file with -o, such as: escapement export -o backup.ndjson.gz',
        })
      }
      durationToMs(flags.wait as never, '--wait')
      expectFree(output, flags.force ?? false)
      return withConnection(flags, command, (client) => write(client, output, flags))
    })
}

async function undo(client: HttpClient, flags: ExportFlags): Promise<void> {
  const report = await client.undoMove()
  show(flags, report, () =>
    report.undone
      ? `${colours.green('✔')} The move is taken back: everything goes on here.`
      : 'Nothing was moved away from here.',
  )
  if (!report.undone) return
  console.error(
    `${errorColours.yellow('warning:')} Where its export was imported it must not run: both would fire.`,
  )
}

async function write(client: HttpClient, output: string, flags: ExportFlags): Promise<void> {
  const { signal, release } = untilInterrupted()
  const mode = flags.move ? 'move' : 'copy'
  let manifest: ExportManifest | undefined
  const lines = client.export({ mode, wait: flags.wait }, { signal })
  const watched = watch(readExport(lines), mode, (found) => {
    manifest = found
  })
  try {
    await writeExport(output, watched)
  } catch (error) {
    throw signal.aborted ? signal.reason : error
  } finally {
    release()
  }
  const { exportId, takenAt, takenBy, rows, mode: found } = manifest!
  const summary = { exportId, mode: found, takenAt, takenBy, file: output, rows }
  // Standard output is the export itself.
  if (output !== STANDARD_STREAM) return show(flags, summary, () => describe(manifest!, output))
  console.error(flags.json ? JSON.stringify(summary, null, 2) : describe(manifest!, output))
}

/** Passes the lines on, and shows how far they are. */
async function* watch(
  parts: AsyncGenerator<ExportPart>,
  mode: ExportManifest['mode'],
  onManifest: (manifest: ExportManifest) => void,
): AsyncGenerator<Uint8Array> {
  let progress = createProgress(mode === 'move' ? 'waiting for running handlers' : 'exporting')
  let current = { table: '', done: 0 }
  let totals: ExportManifest['rows'] = {}
  try {
    for await (const part of parts) {
      if (part.kind === 'manifest') {
        totals = part.manifest.rows
        onManifest(part.manifest)
      }
      if (part.kind === 'rows') {
        const { table, count } = part
        if (table !== current.table) {
          progress.done()
          progress = createProgress(`exporting ${table}`)
          current = { table, done: 0 }
        }
        current.done += count
        progress.update(current.done, totals[table] ?? current.done)
      }
      yield part.line
    }
  } finally {
    progress.done()
  }
}

function describe({ mode, rows, exportId, takenAt, takenBy }: ExportManifest, file: string): string {
  const what = `${rows.schedules} schedules and ${rows.runs_asked} runs`
  const isPiped = file === STANDARD_STREAM
  const where = isPiped ? '' : ` to ${file}`
  if (mode === 'copy') return `${colours.green('✔')} Exported ${what}${where} (${exportId}).`
  const by = takenBy === null ? '' : ` by ${takenBy}`
  const next = isPiped ? '.' : `:\n  escapement import ${file} --database <url>`
  return (
    `${colours.green('✔')} Moved ${what}${where} (${exportId}).\n` +
    `Since ${takenAt}${by} nothing fires here any more: stop what runs here, and go on where it is imported${next}`
  )
}

/** The first Ctrl+C gives it up in order, so that nothing is left behind; a second one ends it at once. */
function untilInterrupted(): { signal: AbortSignal; release(): void } {
  const controller = new AbortController()
  const interrupt = () =>
    controller.abort(
      new EscapementError('cancelled', {
        message:
          'Interrupted: no file was written. Had a move been done already, the same command gives it again.',
      }),
    )
  process.once('SIGINT', interrupt)
  return { signal: controller.signal, release: () => void process.off('SIGINT', interrupt) }
}
