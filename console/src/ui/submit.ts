import { useState } from 'preact/hooks'
import type { Failure } from '../api.ts'

/** What a form does when it is sent: once at a time, and what failed is kept to be said. */
export function useSubmit(act: () => Promise<unknown>) {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<Failure>()
  const send = async (event: Event) => {
    event.preventDefault()
    if (busy) return
    setBusy(true)
    setError(undefined)
    await act().catch(setError)
    setBusy(false)
  }
  return { busy, error, send }
}
