import { useEffect } from 'preact/hooks'

let isUnsaved = false

/** What was typed is sent, or given up. */
export const discardChanges = () => {
  isUnsaved = false
}

/** Asks where something would be lost; whoever goes on is not asked again. */
export function confirmLeave() {
  if (isUnsaved) isUnsaved = !confirm('What you typed here is not sent and will be lost. Leave the page?')
  return !isUnsaved
}

/** Keeps the page from being left unasked while something is typed and not sent. */
export function useUnsavedWarning(isDirty: boolean) {
  useEffect(() => {
    if (!isDirty) return
    isUnsaved = true
    // Only while it is needed: browsers keep no page at hand to go back to that listens to this.
    const close = (event: BeforeUnloadEvent) => void (isUnsaved && event.preventDefault())
    addEventListener('beforeunload', close)
    return () => {
      discardChanges()
      removeEventListener('beforeunload', close)
    }
  }, [isDirty])
}
