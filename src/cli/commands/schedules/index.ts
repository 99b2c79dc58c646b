import type { Command } from 'commander'
import { addBackfill } from './backfill.js'
import { addGet } from './get.js'
import { addChanges, addHistory } from './history.js'
import { addList } from './list.js'
import { addOccurrences } from './occurrences.js'
import { addDiff, addPatch } from './patch.js'
import { addPause, addResume } from './pausing.js'
import { addPreview } from './preview.js'
import { addPut } from './put.js'
import { addDelete, addRename } from './removing.js'
import { addSkip, addUnskip } from './skipping.js'
import { addSync } from './sync.js'
import { addTrigger } from './trigger.js'

const FAMILIES = {
  'To look:': [addList, addGet, addPreview, addOccurrences, addHistory, addChanges],
  'To make and edit:': [addPut, addPatch, addDiff, addRename, addDelete, addSync],
  'To operate:': [addPause, addResume, addTrigger, addSkip, addUnskip, addBackfill],
}

export function addSchedules(program: Command): void {
  const schedules = program
    .command('schedules')
    .summary('make, look at, edit and operate schedules')
    .description(
      'Makes, shows, edits and operates schedules. Without an option it asks the server that runs on ./.escapement.',
    )
  for (const [heading, adds] of Object.entries(FAMILIES)) {
    schedules.commandsGroup(heading)
    for (const add of adds) add(schedules)
  }
  schedules.commandsGroup('Help:')
}
