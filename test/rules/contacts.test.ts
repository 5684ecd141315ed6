import { lookup, Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import { connect, createServer, type LookupFunction } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { takeContacts } from '../support/contacts.ts'
import { run } from '../support/process.ts'
import { temporaryFolder } from '../support/world.ts'

const refusal = (what: string) => `A test contacts only this machine, not ${what}.`

/** 192.0.2.0/24 is for documentation, so nothing would be contacted without the guard either. */
const PUBLIC = '192.0.2.1'
const toPublic: LookupFunction = (_name, _options, callback) => callback(null, [{ address: PUBLIC, family: 4 }])

describe('a test that contacts something else than this machine fails', () => {
  test.each<[string, string, () => Promise<unknown>]>([
    ['a connection', `${PUBLIC}:80`, () => once(connect({ host: PUBLIC, port: 80 }), 'connect')],
    ['a connection with the port first', `${PUBLIC}:80`, () => once(connect(80, PUBLIC), 'connect')],
    ['an IPv6 connection', '2001:db8::1:80', () => once(connect({ host: '2001:db8::1', port: 80 }), 'connect')],
    ['an HTTP request', `${PUBLIC}:80`, () => fetch(`http://${PUBLIC}/`)],
    ['a name with a lookup of its own', PUBLIC, () => once(connect({ host: 'hooks.example.com', port: 80, lookup: toPublic }), 'connect')],
    ['a lookup of a name', 'assay.dev', () => lookup('assay.dev')],
    ['a question to a name server', 'assay.dev', () => new Resolver().resolve4('assay.dev')],
    ['a request to a name', 'assay.dev', () => fetch('http://assay.dev/')],
  ])('%s', async (_, what, contact) => {
    await expect(contact()).rejects.toThrow()
    expect(takeContacts()).toContain(refusal(what))
  })

  test('in a process that it starts', async () => {
    const program = `require('node:net').connect(80, '${PUBLIC}').on('error', ({ message }) => console.log(message))`
    const { stdout } = await run([process.execPath, '-e', program], { env: {} }).exited
    expect(stdout).toBe(`${refusal(`${PUBLIC}:80`)}\n`)
    expect(takeContacts()).toContain(refusal(`${PUBLIC}:80`))
  })
})

test.each([
  ['an address', { host: '127.0.0.1', port: 0 }],
  ['IPv6', { host: '::1', port: 0 }],
  ['a socket file', { path: '' }],
])('this machine is reached by %s', async (_, place) => {
  const server = createServer().listen('path' in place ? { path: join(temporaryFolder(), 'socket') } : place)
  await once(server, 'listening')
  const at = server.address()
  const socket =
    typeof at === 'string' ? connect(at) : connect({ port: (at as { port: number }).port, host: (place as { host: string }).host })
  await once(socket, 'connect')
  socket.destroy()
  server.close()
  expect(takeContacts()).toBe('')
})

test('localhost is found, and a name that is reserved for examples has no address', async () => {
  expect((await lookup('localhost')).address).toMatch(/^(127\.0\.0\.1|::1)$/)
  await expect(lookup('hooks.example.com')).rejects.toMatchObject({ code: 'ENOTFOUND' })
  await expect(new Resolver().resolve4('harbor.example')).rejects.toMatchObject({ code: 'ENOTFOUND' })
  expect(takeContacts()).toBe('')
})
