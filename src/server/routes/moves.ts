import { z } from 'zod'
import { linesResponse } from '../lines-response.js'
import { ProblemError } from '../problems.js'
import { routesOf, spec } from '../route.js'
import { durationInput } from '../schemas/basics.js'

const common = { role: 'admin', groups: 'refused', tag: 'System' } as const

export const MOVE_SPECS = {
  exportAll: spec({
    ...common,
    method: 'post',
    path: '/export',
    summary: 'Take everything out, as a copy or to move it',
    description:
      'Lines of JSON, which `escapement import` stores in another database; empty ones come first while handlers are waited for. The last one begins with `{"end"`: what has none was cut ' +
      'off. After `move` nothing fires here any more, and every change is answered with `moved`; the same export can be taken ' +
      'again. What is given up before its end was not moved.',
    body: z
      .strictObject({
        mode: z.enum(['copy', 'move']).default('copy'),
        wait: durationInput.exactOptional().describe('For handlers that are at work; 30 s by default.'),
      })
      .optional(),
    answer: 'lines',
    problems: ['run_open', 'option_invalid', 'database_unusable'],
  }),
  undoMove: spec({
    ...common,
    method: 'post',
    path: '/export/undo',
    summary: 'Take a move back',
    description: 'Everything goes on here. Where the export was imported it must not run: both would fire.',
    answer: z.object({ undone: z.boolean().describe('False where nothing was moved away.') }),
    problems: [],
  }),
}

export const moveRoutes = routesOf(MOVE_SPECS, {
  exportAll({ escapement, body, actor, request, redacts }) {
    if (redacts) {
      throw new ProblemError('forbidden', {
        detail:
          'Values are hidden here, and an export has them all: export from the database (--database, --directory).',
      })
    }
    return linesResponse(escapement.export({ ...body, actor, signal: request.signal }))
  },
  undoMove: async ({ escapement }) => ({ undone: await escapement.undoMove() }),
})
