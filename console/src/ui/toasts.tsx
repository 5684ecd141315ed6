import { observable, useObservable } from '../observable.ts'

type Toast = { id: number; text: string; tone?: 'bad' | undefined; action?: { name: string; run: () => void } | undefined }

const toasts = observable<Toast[]>([])
let lastId = 0
const TOAST_MS = 6_000
const LONG_TOAST_MS = 12_000

/** Shows a short message that screen readers announce. */
export function showToast(text: string, { tone, action }: Omit<Toast, 'id' | 'text'> = {}) {
  const id = ++lastId
  toasts.set([...toasts.get(), { id, text, tone, action }])
  setTimeout(() => dismiss(id), action || tone ? LONG_TOAST_MS : TOAST_MS)
}

const dismiss = (id: number) => toasts.set(toasts.get().filter((toast) => toast.id !== id))

export function Toasts() {
  const visible = useObservable(toasts)
  return (
    <div class="toasts" role="status" aria-live="polite">
      {visible.map(({ id, text, tone, action }) => (
        <div key={id} class={tone ? `toast ${tone}` : 'toast'}>
          <span class="grow">{text}</span>
          {action && (
            <button
              type="button"
              class="toast-button"
              onClick={() => {
                dismiss(id)
                action.run()
              }}
            >
              {action.name}
            </button>
          )}
          <button type="button" class="toast-button" aria-label="Dismiss" onClick={() => dismiss(id)}>
            ✕
          </button>
        </div>
      ))}
    </div>
  )
}
