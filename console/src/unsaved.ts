import { useEffect } from 'preact/hooks'

let isUnsaved = false

export const discardChanges = () => {
  isUnsaved = false
}

/** Asks before unsaved changes are lost. A confirmed answer discards them. */
export function confirmLeave() {
  if (isUnsaved) isUnsaved = !confirm('Your changes are not saved. Leave this page?')
  return !isUnsaved
}

export function useUnsavedWarning(isDirty: boolean) {
  useEffect(() => {
    if (!isDirty) return
    isUnsaved = true
    // A permanent listener would keep the page out of the browser's back-forward cache.
    const warn = (event: BeforeUnloadEvent) => void (isUnsaved && event.preventDefault())
    addEventListener('beforeunload', warn)
    return () => {
      discardChanges()
      removeEventListener('beforeunload', warn)
    }
  }, [isDirty])
}
