import { defineConfig } from 'vitest/config'

// Neither UTC nor a whole hour off, and with DST: what depends on the host's zone shows.
process.env.TZ = 'America/St_Johns'

const globalSetup = ['test/support/scratch.ts', 'test/support/build.ts', 'test/support/global-setup.ts']
const shared = { testTimeout: 30_000, hookTimeout: 60_000 }
/** Files share modules, and with them one database: to load and open these anew for each takes longer than most tests. */
const together = { ...shared, isolate: false }

/** One suite, two databases: what is under `both` runs on PGlite and on a real server alike. */
const both = ['test/store/**/*.test.ts', 'test/behaviour/**/*.test.ts']

const setupFiles = ['test/support/each-file.ts']
const onPostgres = {
  ...together,
  setupFiles,
  include: both,
  exclude: ['test/store/pglite.test.ts'],
  globalSetup,
  env: { ESCAPEMENT_TEST_TARGET: 'postgres' },
}

/** Those that take longest run on the oldest server in `npm run test:long` only: the others ask it all kinds of statements. */
const LONGEST = [
  'verbs',
  'workers',
  'firing',
  'model',
  'after',
  'in-group',
  'catch-up',
  'running',
  'zone-data',
  'transitions-failing',
].map((name) => `test/behaviour/${name}.test.ts`)
const onOldest = process.env.ESCAPEMENT_TEST_LONG ? [] : LONGEST

export default defineConfig({
  test: {
    // One more than two cores: tests of processes wait for most of their time.
    maxWorkers: 3,
    projects: [
      {
        test: {
          ...together,
          name: 'unit',
          include: [
            'src/**/*.test.ts',
            'dashboard/src/**/*.test.ts',
            'test/*.test.ts',
            'test/docs/*.test.ts',
          ],
        },
      },
      {
        test: {
          ...together,
          name: 'pglite',
          include: both,
          exclude: ['test/store/postgres*.test.ts'],
          globalSetup,
          setupFiles,
          env: { ESCAPEMENT_TEST_TARGET: 'pglite' },
        },
      },
      {
        test: {
          ...onPostgres,
          name: 'postgres',
          include: [...both, 'test/integrations/*.test.ts', 'test/server/**/*.test.ts'],
        },
      },
      { test: { ...onPostgres, name: 'postgres-15', exclude: [...onPostgres.exclude, ...onOldest] } },
      {
        test: {
          ...shared,
          name: 'processes',
          include: ['processes', 'time', 'faults', 'simulation'].map(
            (folder) => `test/${folder}/**/*.test.ts`,
          ),
          globalSetup,
          env: { ESCAPEMENT_TEST_TARGET: 'postgres' },
          testTimeout: 180_000,
        },
      },
      {
        test: {
          ...together,
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          globalSetup,
          env: { ESCAPEMENT_TEST_TARGET: 'postgres' },
          testTimeout: 60_000,
        },
      },
    ],
  },
})
