import { useEffect } from 'preact/hooks'
import { ask, byItself, chosenTeam } from './api.ts'
import { store, useStore } from './observable.ts'

export type Told = {
  event_id: string
  created_at: string
  event_type: string
  user_id: string | null
  data: { id?: string; order_id?: string }
}

const listeners = new Set<(told: Told) => void>()
export const isLive = store(false)
const AGAIN_AFTER = 5_000
/** A team that has too many lines open already is refused, and each refusal is audited. */
const REFUSED_AGAIN_AFTER = 60_000

/** The events of the team as they come. One line serves the whole page, whoever listens. */
export function useEvents(hear: (told: Told) => void) {
  useEffect(() => {
    listeners.add(hear)
    return () => {
      listeners.delete(hear)
    }
  }, [hear])
}

/** Keeps the line open for as long as a team is chosen. */
export function useEventLine() {
  const team = useStore(chosenTeam)
  useEffect(() => {
    if (!team) return
    const ends = new AbortController()
    void keepOpen(ends.signal)
    return () => ends.abort()
  }, [team])
}

async function keepOpen(signal: AbortSignal) {
  let last: string | undefined
  while (!signal.aborted) {
    const headers: Record<string, string> = last ? { 'last-event-id': last } : {}
    const response = await byItself(() => ask('streamEvents', { signal, query: { after: 'end' }, headers })).catch(() => undefined)
    if (response?.ok && response.body) {
      isLive.set(true)
      last = (await listen(response.body).catch(() => undefined)) ?? last
    }
    isLive.set(false)
    if (response && [401, 403].includes(response.status)) return
    const wait = response?.status === 429 ? REFUSED_AGAIN_AFTER : AGAIN_AFTER
    if (!signal.aborted) await new Promise((done) => setTimeout(done, wait))
  }
}

async function listen(body: ReadableStream<Uint8Array>) {
  let rest = ''
  const text = new TextDecoder()
  let last: string | undefined
  const reader = body.getReader()
  for (;;) {
    const { value, done } = await reader.read().catch(() => ({ value: undefined, done: true }))
    if (done) return last
    const blocks = (rest + text.decode(value, { stream: true })).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const lines = block.split('\n')
      last =
        lines
          .find((line) => line.startsWith('id:'))
          ?.slice(3)
          .trim() ?? last
      const data = lines.filter((line) => line.startsWith('data:')).map((line) => line.slice(5))
      if (data.length) tell(JSON.parse(data.join('\n')))
    }
  }
}

const tell = (told: Told) => {
  for (const hear of listeners) byItself(() => hear(told))
}
