import { useLayoutEffect, useRef } from 'preact/hooks'

/** What the keyboard was at before the first of several dialogs, one of which may open as another closes. */
let opener: Element | null = null

/** A modal of the browser's own: focus stays inside, Escape closes, and the page behind is inert. */
export function useModal() {
  const ref = useRef<HTMLDialogElement>(null)
  // Before the next key comes: whoever types on at once means what is inside.
  useLayoutEffect(() => {
    if (document.activeElement !== document.body) opener = document.activeElement
    ref.current?.showModal()
    // It closes by leaving the page, for which the browser gives no focus back.
    return () => queueMicrotask(() => opener instanceof HTMLElement && opener.focus({ preventScroll: true }))
  }, [])
  return ref
}
