import type { Command } from 'commander'
import { addCancel } from './cancel.js'
import { addEnqueue } from './enqueue.js'
import { addGet } from './get.js'
import { addList } from './list.js'
import { addRetry } from './retry.js'

export function addRuns(program: Command): void {
  const runs = program.command('runs').description('look at runs, ask for them, cancel and retry them')
  for (const add of [addList, addGet, addEnqueue, addCancel, addRetry]) add(runs)
}
