import fs from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { EXIT_STATUS } from '../src/cli/exit-status.js'
import { createProgram } from '../src/cli/program.js'
import { SERVE_DEFAULTS } from '../src/server/serve.js'
import { durationToMs } from '../src/time/duration.js'
import { WORKER_DEFAULTS } from '../src/worker/worker.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (file: string) => fs.readFileSync(`${root}${file}`, 'utf8')
const recipes = Object.fromEntries(
  fs.readdirSync(`${root}deploy`).map((name) => [name, read(`deploy/${name}`)]),
)
const { bin } = JSON.parse(read('package.json'))
const MAIN = `node_modules/escapement/${bin.escapement}`

/** Fails on a command or a flag that there is not, and on a value that is refused. */
function expectCommand(words: readonly string[]): void {
  let command: Command = createProgram()
  let rest = [...words]
  for (;;) {
    const next = command.commands.find((each) => each.name() === rest[0])
    if (!next) break
    command = next
    rest = rest.slice(1)
  }
  expect(command.commands, `${words.join(' ')} is a command`).toEqual([])
  command.exitOverride().configureOutput({ writeErr: () => {} })
  // Reads what was given, without doing it.
  const { operands, unknown } = command.parseOptions(rest)
  expect(unknown, `flags of ${words.join(' ')}`).toEqual([])
  expect(operands.length).toBe(command.registeredArguments.length)
}

/** Of the server's pages that answer without a token. */
function expectProbe(text: string, path: '/health' | '/ready'): void {
  expect(text).toMatch(new RegExp(`http://127\\.0\\.0\\.1:${SERVE_DEFAULTS.port}${path}(?:'|\\s|$)`))
  expect(read('src/server/pages.ts')).toContain(`'${path}': { role: 'anyone'`)
}

const seconds = (text: string) => durationToMs(text) / 1000
const drain = seconds(WORKER_DEFAULTS.drain)

it('what is secret, or of this machine alone, stays out of the image', () => {
  const left = recipes['Dockerfile.dockerignore']!.split('\n').filter((line) => /^[^#]/.test(line))
  expect(left).toEqual(expect.arrayContaining(['node_modules', '.git', '.env*', '.escapement']))
})

describe('the Dockerfile', () => {
  const KNOWN = 'FROM RUN COPY ENV WORKDIR USER EXPOSE HEALTHCHECK STOPSIGNAL ENTRYPOINT CMD'.split(' ')
  const lines = recipes
    .Dockerfile!.split('\n')
    .filter((line) => !line.startsWith('#'))
    .join('\n')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '')
  const last = (name: string) => lines.findLast((line) => line.startsWith(`${name} `))!.slice(name.length + 1)

  it('has instructions that there are, in stages that there are', () => {
    expect(lines.map((line) => line.split(' ')[0]!).filter((name) => !KNOWN.includes(name))).toEqual([])
    expect(lines[0]).toMatch(/^FROM /)
    const stages = lines.flatMap((line) => /^FROM \S+ AS (\w+)$/.exec(line)?.[1] ?? [])
    const used = lines.flatMap((line) => /--from=(\w+)/.exec(line)?.[1] ?? [])
    expect(used.filter((stage) => !stages.includes(stage))).toEqual([])
  })

  it('is of a Node that is supported, and runs as somebody without rights', () => {
    expect(recipes.Dockerfile).toMatch(/^FROM node:2[46]-slim$/m)
    expect(last('USER')).toBe('node')
  })

  it('runs a command that there is, and asks for its health', () => {
    expect(JSON.parse(last('ENTRYPOINT'))).toEqual(['node', MAIN])
    expectCommand(JSON.parse(last('CMD')))
    expect(last('EXPOSE')).toBe(String(SERVE_DEFAULTS.port))
    const [, probe] = /CMD (\[.*\])$/.exec(last('HEALTHCHECK'))!
    expect(JSON.parse(probe!).slice(0, 2)).toEqual(['node', '--eval'])
    expectProbe(JSON.parse(probe!)[2], '/health')
  })
})

describe('the compose file', () => {
  interface Service {
    command?: string[]
    environment?: Record<string, string>
    depends_on?: Record<string, { condition: string }>
    healthcheck?: { test?: string[]; disable?: boolean }
    ports?: string[]
    stop_grace_period?: string
    volumes?: string[]
    build?: { context: string; dockerfile: string }
  }
  const compose = parse(recipes['compose.yaml']!, { merge: true }) as {
    services: Record<string, Service>
    volumes: Record<string, unknown>
  }
  const { postgres, ...own } = compose.services
  const KEYS =
    'build image command environment restart stop_grace_period depends_on volumes healthcheck ports'.split(
      ' ',
    )

  it('has keys, services and volumes that there are', () => {
    for (const service of Object.values(compose.services)) {
      expect(Object.keys(service).filter((key) => !KEYS.includes(key))).toEqual([])
      for (const name of Object.keys(service.depends_on ?? {})) expect(compose.services).toHaveProperty(name)
      for (const volume of service.volumes ?? [])
        expect(compose.volumes).toHaveProperty(volume.split(':')[0]!)
    }
  })

  it('runs commands that there are, on the database that it starts', () => {
    expect(Object.keys(own)).toEqual(['migrate', 'server', 'worker'])
    for (const { command, environment, build } of Object.values(own)) {
      expectCommand(command!)
      const url = new URL(environment!.DATABASE_URL!.replace(/\$\{[^}]+\}/, 'secret'))
      expect([url.username, url.hostname, url.port, url.pathname.slice(1)]).toEqual([
        postgres!.environment!.POSTGRES_USER,
        'postgres',
        '5432',
        postgres!.environment!.POSTGRES_DB,
      ])
      expect(fs.existsSync(`${root}${build!.dockerfile}`)).toBe(true)
    }
    const [, words] = /run --rm server (.+)$/m.exec(recipes['compose.yaml']!)!
    expectCommand(words!.split(' '))
    expect(recipes['README.md']).toContain(`run --rm server ${words}`)
  })

  it('has probes that wait for readiness, and time for handlers to finish', () => {
    for (const { healthcheck, stop_grace_period, ports = [] } of [own.server!, own.worker!]) {
      expectProbe(healthcheck!.test!.at(-1)!, '/ready')
      expect(seconds(stop_grace_period!)).toBeGreaterThan(drain)
      for (const port of ports) expect(port).toMatch(new RegExp(`:${SERVE_DEFAULTS.port}$`))
    }
    expect(own.migrate!.depends_on).toEqual({ postgres: { condition: 'service_healthy' } })
    expect(own.server!.depends_on).toEqual({ migrate: { condition: 'service_completed_successfully' } })
  })
})

describe('the systemd units', () => {
  const KNOWN: Record<string, string[]> = {
    Unit: 'Description Wants After Requisite StartLimitIntervalSec StartLimitBurst'.split(' '),
    Service: [
      'Type User WorkingDirectory EnvironmentFile Environment ExecStartPre ExecStart ExecStartPost Restart RestartSec',
      'RestartPreventExitStatus TimeoutStopSec KillMode NoNewPrivileges ProtectSystem ProtectHome PrivateTmp PrivateDevices',
      'ProtectKernelTunables ProtectControlGroups RestrictSUIDSGID LockPersonality',
    ].flatMap((line) => line.split(' ')),
    Timer: 'OnActiveSec OnUnitInactiveSec'.split(' '),
    Install: ['WantedBy'],
  }
  const units = Object.keys(recipes).filter((name) => /\.(?:service|timer)$/.test(name))

  /** By section; each line of it as key and value. */
  function unit(name: string): Record<string, [string, string][]> {
    const sections: Record<string, [string, string][]> = {}
    let section: [string, string][] | undefined
    for (const line of recipes[name]!.split('\n')) {
      if (line === '' || line.startsWith('#')) continue
      const [, title] = /^\[(\w+)\]$/.exec(line) ?? []
      const [, key, value] = /^(\w+)=(.+)$/.exec(line) ?? []
      if (title) {
        section = []
        sections[title] = section
      } else if (key && section) section.push([key, value!])
      else throw new Error(`${name}: ${line}`)
    }
    return sections
  }

  it.each(units)('%s has sections and keys that there are', (name) => {
    for (const [section, lines] of Object.entries(unit(name))) {
      expect(KNOWN).toHaveProperty(section)
      expect(lines.map(([key]) => key).filter((key) => !KNOWN[section]!.includes(key))).toEqual([])
    }
  })

  it('run commands that there are, and have started when they are ready', () => {
    const service = Object.fromEntries(unit('escapement.service').Service!)
    for (const line of [service.ExecStartPre!, service.ExecStart!]) {
      expect(line.startsWith(`/usr/bin/node ${MAIN} `), line).toBe(true)
      expectCommand(line.split(' ').slice(2))
    }
    expectProbe(service.ExecStartPost!, '/ready')
    expect(Number(service.TimeoutStopSec)).toBeGreaterThan(drain)
    expect(Number(service.RestartPreventExitStatus)).toBe(EXIT_STATUS.usage)
  })

  it('restart what is stuck, by a timer for a unit that there is', () => {
    const [[, check]] = unit('escapement-health.service').Service!.filter(([key]) => key === 'ExecStart') as [
      [string, string],
    ]
    expectProbe(check, '/health')
    expect(check).toContain('systemctl restart escapement.service')
    expect(units).toContain('escapement-health.timer')
  })
})

it('comments that speak of 25 seconds are right', () => {
  expect(drain).toBe(25)
})
