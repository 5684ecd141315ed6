import { useState } from 'preact/hooks'
import type { ApiError } from '../api.ts'

/** Runs one submission at a time and keeps its error. */
export function useSubmit(action: () => Promise<unknown>) {
  const [isBusy, setIsBusy] = useState(false)
  const [error, setError] = useState<ApiError>()
  const submit = async (event: Event) => {
    event.preventDefault()
    if (isBusy) return
    setIsBusy(true)
    setError(undefined)
    await action().catch(setError)
    setIsBusy(false)
  }
  return { isBusy, error, submit }
}
