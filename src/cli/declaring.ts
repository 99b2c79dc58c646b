import type { EscapementError } from '../errors.js'
import type { Escapement } from '../escapement.js'
import type { DeclaredTable } from '../transitions/row-declaration.js'
import { mistakesFrom } from './config-check.js'
import { type ConfigMistake, mistakesInConfig } from './config-errors.js'
import type { LoadedConfig } from './config-file.js'
import type { KeyPath } from './source-keys.js'

/** Declares the transitions of a configuration; the mistakes of all tables are told at once. */
export async function declareAll({ transitions }: Escapement, config: LoadedConfig): Promise<void> {
  const mistakes: ConfigMistake[] = []
  for (const { at, declared } of tablesOf(config)) {
    try {
      await transitions.declare(declared)
    } catch (error) {
      if ((error as EscapementError).code !== 'transition_invalid' || !config.source) throw error
      mistakes.push(...mistakesFrom(at, error))
    }
  }
  if (mistakes.length > 0) throw mistakesInConfig(config.source!, mistakes)
}

function tablesOf({ transitions = {} }: LoadedConfig): { at: KeyPath; declared: DeclaredTable }[] {
  if (Array.isArray(transitions)) {
    const list = transitions as readonly DeclaredTable[]
    return list.map((declared, index) => ({ at: ['transitions', index], declared }))
  }
  return Object.entries(transitions).map(([table, declaration]) => ({
    at: ['transitions', table],
    declared: { ...declaration, table },
  }))
}
