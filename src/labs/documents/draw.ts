import { Worker } from 'node:worker_threads'
import { type Caches, declareCache } from '../../platform/caches.ts'
import type { Documents, DrawRequest, DrawResponse } from './thread.ts'

/** The worker thread, started with the first document, and its pending requests. */
type DrawingThread = { thread: Worker; pending: Map<number, PromiseWithResolvers<Buffer>> }

type ThreadState = { current?: DrawingThread | undefined; last: number }

const threadState = declareCache((): ThreadState => ({ last: 0 }))

/** Draws a document as a PDF. A long one takes seconds, so a worker thread draws it while the process serves requests. */
export function draw<P extends keyof Documents>(
  service: { caches: Caches },
  paper: P,
  input: Parameters<Documents[P]>[0],
): Promise<Buffer> {
  const state = threadState(service)
  state.current ??= startThread(state)
  const { thread, pending } = state.current
  const id = ++state.last
  const drawn = Promise.withResolvers<Buffer>()
  pending.set(id, drawn)
  // A pending document keeps the process alive; an idle thread does not.
  thread.ref()
  thread.postMessage({ id, paper, input: input as never } satisfies DrawRequest)
  return drawn.promise
}

function startThread(state: ThreadState): DrawingThread {
  const thread = new Worker(new URL('./thread.ts', import.meta.url))
  const pending: DrawingThread['pending'] = new Map()
  thread.on('message', (drawn: DrawResponse) => {
    const one = pending.get(drawn.id)
    pending.delete(drawn.id)
    if (!pending.size) thread.unref()
    if ('bytes' in drawn) one?.resolve(Buffer.from(drawn.bytes.buffer, drawn.bytes.byteOffset, drawn.bytes.byteLength))
    else one?.reject(drawingError(drawn.stack))
  })
  thread.on('error', () => {})
  thread.on('exit', () => {
    state.current = undefined
    for (const one of pending.values()) one.reject(drawingError('The drawing thread exited.'))
  })
  return { thread, pending: pending }
}

/** Keeps the stack but drops the message, which may quote personal data. */
const drawingError = (stack: string | undefined) => Object.assign(new Error('drawing a PDF failed'), { stack })
