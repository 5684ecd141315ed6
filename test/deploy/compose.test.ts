import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { Settings } from '../../src/platform/config.ts'
import { root } from '../support/process.ts'
import { isSecretSetting } from './support/secret-settings.ts'

type Service = {
  build?: string
  image: string
  command?: string[]
  entrypoint?: string[]
  environment: Record<string, string>
  ports?: string[]
  volumes?: string[]
  depends_on?: Record<string, { condition: string }>
  healthcheck?: { test: string[] }
  restart: string
  read_only?: boolean
  cap_drop?: string[]
  stop_grace_period?: string
}
type Compose = { name: string; services: Record<string, Service>; volumes: Record<string, unknown> }

const folder = join(root, 'deploy/compose')
const files = ['single', 'pooler', 'citus'] as const
const readText = (file: string) => readFileSync(join(folder, `${file}.yaml`), 'utf8')
const read = (file: string) => parse(readText(file), { merge: true }) as Compose
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

const settings = Object.keys(Settings.shape)
const isSecret = (name: string) => isSecretSetting(name) || /PASSWORD/.test(name)

describe.each(files)('%s', (file) => {
  const { services, volumes } = read(file)
  const all = Object.entries(services)
  const ours = all.filter(([, { build }]) => build)

  test('images have a version, and ours has the version of the package', () => {
    expect(all.filter(([, { image }]) => !/:v?\d+\.\d+/.test(image)).map(([name]) => name)).toEqual([])
    for (const [name, { build, image }] of ours) {
      expect(image, name).toBe(`assay:${version}`)
      expect(existsSync(join(folder, build ?? '', 'Dockerfile')), name).toBe(true)
    }
  })

  test('every setting exists', () => {
    const names = ours.flatMap(([, { environment }]) => Object.keys(environment))
    expect(names.filter((name) => !settings.includes(name))).toEqual([])
  })

  test('secrets come from the environment, and those that every deployment has are required', () => {
    for (const [name, { environment }] of all)
      for (const [variable, value] of Object.entries(environment).filter(([variable]) => isSecret(variable)))
        expect(value, `${name} ${variable}`).toMatch(/^(postgres:\/\/assay:)?\$\{[A-Z0-9_]+(:\?|\?|:-)\}(@[a-z]+:\d+\/assay)?$/)
    const required = [...readText(file).matchAll(/\$\{([A-Z_]+):?\?\}/g)].map(([, name]) => name as string)
    const explained = [...readText(file).matchAll(/^# {3}([A-Z_]+)$/gm)].map(([, name]) => name as string)
    expect(explained.sort()).toEqual([...new Set(required)].sort())
  })

  test('ports are open on this machine only', () => {
    const ports = all.flatMap(([, { ports = [] }]) => ports)
    expect(ports).toEqual(['127.0.0.1:8080:8080'])
  })

  test('every service that stays has a health check', () => {
    expect(readFileSync(join(root, 'Dockerfile'), 'utf8')).toMatch(/^HEALTHCHECK .*\\\n.*\/ready/m)
    const unchecked = all.filter(([, { build, healthcheck, restart }]) => !build && !healthcheck && restart !== 'no')
    expect(unchecked.map(([name]) => name)).toEqual([])
  })

  test('our containers cannot write outside of volumes and have time to stop', () => {
    for (const [name, service] of ours)
      expect(service, name).toMatchObject({ read_only: true, cap_drop: ['ALL'], stop_grace_period: '30s' })
  })

  test('dependencies, volumes and mounted files exist', () => {
    for (const [name, { depends_on = {}, volumes: mounts = [] }] of all) {
      expect(Object.keys(services), name).toEqual(expect.arrayContaining(Object.keys(depends_on)))
      for (const [source = ''] of mounts.map((mount) => mount.split(':')))
        expect(source.startsWith('./') ? existsSync(join(folder, source)) : source in volumes, `${name} ${source}`).toBe(true)
    }
  })
})

describe.each(['pooler', 'citus'])('%s', (file) => {
  const { services } = read(file)

  test('API and worker are separate and start after the migration', () => {
    const roles = Object.entries(services).flatMap(([name, { environment }]) => (environment['ROLE'] ? [[name, environment['ROLE']]] : []))
    expect(roles).toEqual([
      ['api', 'api'],
      ['worker', 'worker'],
    ])
    for (const name of ['api', 'worker']) expect(services[name]?.depends_on?.['migrate']?.condition).toBe('service_completed_successfully')
    expect(services['migrate']?.restart).toBe('no')
  })
})

const hostOf = (url: string | undefined) => /@([^/]+)/.exec(url ?? '')?.[1]

test('single: one service on PostgreSQL', () => {
  const { services } = read('single')
  expect(Object.keys(services)).toEqual(['postgres', 'assay'])
  expect(hostOf(services['assay']?.environment['DATABASE_URL'])).toBe('postgres:5432')
})

test('single: is what docker compose up starts in the project folder', () => {
  expect(parse(readFileSync(join(root, 'compose.yaml'), 'utf8'))).toEqual({
    name: 'assay',
    include: ['deploy/compose/single.yaml'],
  })
})

test('pooler: statements go through PgBouncer, LISTEN and migrations to the primary, reads to the replica', () => {
  const { services } = read('pooler')
  for (const name of ['api', 'worker']) {
    const { DATABASE_URL, DIRECT_DATABASE_URL, READ_DATABASE_URL } = services[name]?.environment ?? {}
    expect([DATABASE_URL, DIRECT_DATABASE_URL, READ_DATABASE_URL].map(hostOf)).toEqual(['pgbouncer:6432', 'primary:5432', 'replica:5432'])
  }
  expect(hostOf(services['migrate']?.environment['DATABASE_URL'])).toBe('primary:5432')
})

test('pooler: PgBouncer is 1.21 or newer, in transaction mode with prepared statements', () => {
  const { pgbouncer } = read('pooler').services
  expect(Number(/:v1\.(\d+)/.exec(pgbouncer?.image ?? '')?.[1])).toBeGreaterThanOrEqual(21)
  expect(pgbouncer?.environment).toMatchObject({ POOL_MODE: 'transaction', DB_HOST: 'primary', LISTEN_PORT: '6432' })
  expect(Number(pgbouncer?.environment['MAX_PREPARED_STATEMENTS'])).toBeGreaterThan(0)
})

test('citus: the nodes are registered, then the migration distributes the tables', () => {
  const { services } = read('citus')
  const nodes = Object.entries(services).filter(([, { image, restart }]) => image.startsWith('citusdata/') && restart !== 'no')
  expect(nodes.map(([name]) => name)).toEqual(['coordinator', 'citus-worker-1', 'citus-worker-2'])
  for (const [name] of nodes) {
    expect(services['cluster']?.depends_on?.[name]?.condition).toBe('service_healthy')
    expect(services['cluster']?.command?.join()).toContain(`'${name}', 5432`)
  }
  expect(services['migrate']?.command).toEqual(['node', 'bin/assay.mjs', 'migrate', '--distribute'])
  expect(services['migrate']?.depends_on).toEqual({ cluster: { condition: 'service_completed_successfully' } })
})
