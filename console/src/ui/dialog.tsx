import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import type { ApiError } from '../api.ts'
import { Button, Notice } from './basics.tsx'
import { useModal } from './modal.ts'
import { useSubmit } from './submit.ts'

type DialogProps = { title: string; onClose: () => void; large?: boolean; children: ComponentChildren }

export function Dialog({ title, onClose, large, children }: DialogProps) {
  const ref = useModal()
  const id = useId()
  return (
    <dialog ref={ref} class={large ? 'large' : ''} aria-labelledby={id} onCancel={onClose} onClose={onClose}>
      <div class="dialog">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  )
}

type FormDialogProps = {
  title: string
  submit: string
  danger?: boolean
  large?: boolean
  disabled?: boolean
  onClose: () => void
  onSubmit: () => Promise<unknown>
  children: ComponentChildren | ((error: ApiError | undefined) => ComponentChildren)
}

/** Stays open and shows the error when the action fails. */
export function FormDialog({ title, submit, danger, large, disabled, onClose, onSubmit, children }: FormDialogProps) {
  const { isBusy, error, submit: send } = useSubmit(onSubmit)
  return (
    <Dialog title={title} onClose={onClose} large={large ?? false}>
      <form class="stack" onSubmit={send}>
        {typeof children === 'function' ? children(error) : children}
        {error && <Notice tone="bad">{error.message}</Notice>}
        <div class="actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" class={danger ? 'danger' : ''} disabled={isBusy || Boolean(disabled)} aria-busy={isBusy}>
            {submit}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
