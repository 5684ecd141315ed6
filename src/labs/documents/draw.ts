import { Worker } from 'node:worker_threads'
import { type Caches, declareCache } from '../../platform/caches.ts'
import type { Documents, DrawRequest, DrawResponse } from './thread.ts'

/** The thread that draws, from the first paper on, and what it was asked for. */
type Drawing = { thread: Worker; asked: Map<number, PromiseWithResolvers<Buffer>> }

type Drawings = { current?: Drawing | undefined; last: number }

const drawings = declareCache((): Drawings => ({ last: 0 }))

/** Draws a document as a PDF. A long one takes seconds, so a thread of its own draws it while the process serves other requests. */
export function draw<P extends keyof Documents>(
  service: { caches: Caches },
  paper: P,
  input: Parameters<Documents[P]>[0],
): Promise<Buffer> {
  const state = drawings(service)
  state.current ??= begin(state)
  const { thread, asked } = state.current
  const id = ++state.last
  const drawn = Promise.withResolvers<Buffer>()
  asked.set(id, drawn)
  // A process that has nothing else to do waits for a paper, but not for the thread.
  thread.ref()
  thread.postMessage({ id, paper, input: input as never } satisfies DrawRequest)
  return drawn.promise
}

function begin(state: Drawings): Drawing {
  const thread = new Worker(new URL('./thread.ts', import.meta.url))
  const asked: Drawing['asked'] = new Map()
  thread.on('message', (drawn: DrawResponse) => {
    const one = asked.get(drawn.id)
    asked.delete(drawn.id)
    if (!asked.size) thread.unref()
    if ('bytes' in drawn) one?.resolve(Buffer.from(drawn.bytes.buffer, drawn.bytes.byteOffset, drawn.bytes.byteLength))
    else one?.reject(failed(drawn.stack))
  })
  thread.on('error', () => {})
  thread.on('exit', () => {
    state.current = undefined
    for (const one of asked.values()) one.reject(failed('The drawing thread exited.'))
  })
  return { thread, asked }
}

/** Where it failed, without its message: that may quote what was to be drawn. */
const failed = (stack: string | undefined) => Object.assign(new Error('drawing a PDF failed'), { stack })
