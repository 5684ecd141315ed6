import { Worker } from 'node:worker_threads'
import { type Caches, declareCache } from '../../platform/caches.ts'
import type { Documents, DrawRequest, DrawResponse } from './thread.ts'

/** The worker thread, started with the first document, and its pending requests. */
type DrawingThread = { thread: Worker; pending: Map<number, PromiseWithResolvers<Buffer>> }

type ThreadState = { current?: DrawingThread | undefined; lastId: number }

const threadState = declareCache((): ThreadState => ({ lastId: 0 }))

/** Draws a document as a PDF. A long one takes seconds, so a worker thread draws it while the process serves requests. */
export function draw<P extends keyof Documents>(
  service: { caches: Caches },
  document: P,
  input: Parameters<Documents[P]>[0],
): Promise<Buffer> {
  const state = threadState(service)
  state.current ??= startThread(state)
  const { thread, pending } = state.current
  const id = ++state.lastId
  const request = Promise.withResolvers<Buffer>()
  pending.set(id, request)
  // A pending document keeps the process alive; an idle thread does not.
  thread.ref()
  thread.postMessage({ id, document, input: input as never } satisfies DrawRequest)
  return request.promise
}

function startThread(state: ThreadState): DrawingThread {
  const thread = new Worker(new URL('./thread.ts', import.meta.url))
  const pending: DrawingThread['pending'] = new Map()
  thread.on('message', (response: DrawResponse) => {
    const request = pending.get(response.id)
    pending.delete(response.id)
    if (!pending.size) thread.unref()
    if ('bytes' in response) request?.resolve(Buffer.from(response.bytes.buffer, response.bytes.byteOffset, response.bytes.byteLength))
    else request?.reject(drawingError(response.stack))
  })
  thread.on('error', () => {})
  thread.on('exit', () => {
    state.current = undefined
    for (const request of pending.values()) request.reject(new Error('the drawing thread exited'))
  })
  return { thread, pending }
}

/** Keeps the stack frames but drops the message, which may quote personal data. */
const drawingError = (stack = '') => Object.assign(new Error('drawing a PDF failed'), { stack: framesOf(stack) })

const framesOf = (stack: string) =>
  stack
    .split('\n')
    .filter((line) => line.startsWith('    at '))
    .join('\n')
