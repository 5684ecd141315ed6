import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'

/** Who may import whom: a room, or a library that the room is about. */
const mayImport: Record<string, string> = {
  contract: 'contract zod',
  problem: 'contract',
  config: 'contract problem zod',
  log: 'config pino',
  paging: 'contract problem',
  'private-files': 'problem',
  'data-dir': 'config private-files problem',
  db: 'contract db paging private-files problem kysely pg pino',
  sealing: 'sealing app db kysely',
  app: 'actions config contract db sealing pino',
  rules: 'config contract problem rules',
  store: 'contract db paging store kysely',
  documents: 'contract documents fontkit pdfkit',
  html: '',
  docs: 'docs html marked',
  actions: 'actions app config contract db documents html paging problem rules sealing store amqplib google-auth-library undici zod',
  jobs: 'actions app jobs',
  http: 'actions app config contract db docs http log problem rules fastify prom-client zod @scalar/fastify-api-reference',
  credentials: 'actions app data-dir private-files rules',
  start: 'actions app config credentials data-dir db http jobs log private-files problem sealing pino fastify',
  cli: 'actions app cli config contract data-dir db log problem rules sealing start pino zod',
  main: 'cli',
}

const rooms = ['contract', 'db', 'sealing', 'documents', 'docs', 'http', 'jobs', 'cli']

/** Folders are features but for these rooms. A feature has rules and a store, or several (`rules-zones.ts`); all else in it is actions. */
function roomOf(file: string) {
  const [folder = '', name = ''] = file.split('/')
  if (!file.includes('/')) return file.replace('.ts', '')
  return rooms.includes(folder) ? folder : (/^(rules|store)(-.+)?\.ts$/.exec(name)?.[1] ?? 'actions')
}

/** What rooms without a database, a clock or a disk may use of Node: it computes and touches nothing. */
const pure = /^node:(crypto|zlib)$/

const root = new URL('../src/', import.meta.url).pathname
const files = globSync('**/*.ts', { cwd: root }).map((file) => ({ file, room: roomOf(file), text: readFileSync(join(root, file), 'utf8') }))

describe.each(files)('$file', ({ file, room, text }) => {
  const imports = [...text.matchAll(/(?:from |import\()'([^']+)'/g)].map(([, path]) => path as string)
  const ours = imports.filter((path) => path.startsWith('.')).map((path) => relative(root, join(root, dirname(file), path)))
  const node = imports.filter((path) => path.startsWith('node:'))
  const libraries = imports.filter((path) => !/^(\.|node:)/.test(path))

  test('stays in its room', () => {
    const allowed = mayImport[room]?.split(' ') ?? []
    expect([...ours.map(roomOf), ...libraries].filter((other) => !allowed.includes(other))).toEqual([])
    if (['contract', 'rules', 'store'].includes(room)) expect(node.filter((path) => !pure.test(path))).toEqual([])
  })

  test("leaves other features' stores alone", () => {
    expect(ours.filter((other) => roomOf(other) === 'store' && dirname(other) !== dirname(file))).toEqual([])
  })

  test('follows the house rules', () => {
    const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/ .*/g, '')
    expect(code.includes('process.env')).toBe(file === 'config.ts')
    expect(/\bclass \w/.test(code)).toBe(file === 'problem.ts')
    expect(code).not.toMatch(/export default/)
    if (room !== 'db' && !/\/store(-[^/]+)?\.ts$/.test(file))
      expect(code).not.toMatch(/\b(selectFrom|insertInto|updateTable|deleteFrom)\(|\bsql(<[^`]*>)?`/)
    if (room === 'rules') expect(code).not.toMatch(/\bawait\b|new Date\(\)|Date\.now/)
  })
})

describe('the console', () => {
  const root = new URL('../console/src/', import.meta.url).pathname
  const files = globSync('**/*.{ts,tsx}', { cwd: root }).map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }))

  test.each(files)('$file takes nothing of the service but the types of its contract and the lifecycle', ({ text }) => {
    const lines = [...text.matchAll(/^import (type )?.*'([^']+)'$/gm)].map(([, type, path]) => ({ type, path: path as string }))
    const outside = lines.filter(({ path }) => path.includes('../src/'))
    expect(outside.filter(({ path }) => !path.includes('/src/contract/'))).toEqual([])
    expect(outside.filter(({ type, path }) => !type && !path.endsWith('/contract/lifecycle.ts'))).toEqual([])
    expect(lines.filter(({ path }) => !/^(\.|preact|uqr$|virtual:)/.test(path))).toEqual([])
    expect(text).not.toMatch(/\bclass \w+ |export default|dangerouslySetInnerHTML|innerHTML/)
  })
})
