import { useLayoutEffect, useRef } from 'preact/hooks'

/** The element that had focus before the first dialog, because one dialog may open as another closes. */
let opener: Element | null = null

/** Uses the browser's modal dialog, which traps focus and closes on Escape. */
export function useModal() {
  const ref = useRef<HTMLDialogElement>(null)
  // A layout effect opens the dialog before the next key press, so typing goes into the dialog.
  useLayoutEffect(() => {
    if (document.activeElement !== document.body) opener = document.activeElement
    ref.current?.showModal()
    // The browser does not restore focus when an open dialog is removed from the page.
    return () => queueMicrotask(() => opener instanceof HTMLElement && opener.focus({ preventScroll: true }))
  }, [])
  return ref
}
