import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Fastify from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { mountConsole } from '../../src/http/console.ts'
import type { Problem } from '../../src/problem.ts'

test('a console that was not built says how to build it, and nothing else suffers', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-console-'))
  const server = Fastify()
  onTestFinished(async () => {
    await server.close()
    rmSync(folder, { recursive: true })
  })
  server.setErrorHandler(({ kind, detail }: Problem, _, reply) => reply.send({ kind, detail }))
  server.get('/health', async () => 'ok')
  mountConsole(server, folder)
  const told = { kind: 'unavailable', detail: { error_type: 'CONSOLE_NOT_BUILT', error_message: expect.stringContaining('npm start') } }
  for (const url of ['/console', '/console/t/any/orders']) expect((await server.inject(url)).json()).toEqual(told)
  expect((await server.inject('/console/assets/index.js')).statusCode).toBe(404)
  expect((await server.inject('/health')).body).toBe('ok')
})
