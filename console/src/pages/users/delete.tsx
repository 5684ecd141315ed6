import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { refresh } from '../../query.ts'
import { navigate } from '../../router.tsx'
import { Button } from '../../ui/basics.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/forms.tsx'
import { showToast } from '../../ui/toasts.tsx'
import type { User } from './find.ts'

export function DeleteUser({ user: { user_id, client_user_id } }: { user: User }) {
  const [isOpen, setIsOpen] = useState(false)
  const [confirmation, setConfirmation] = useState('')
  const undo = async () => {
    await api.undoDeleteUser({ query: { user_id } }).then(
      () => showToast('User restored.'),
      (error: Error) => showToast(error.message, { tone: 'bad' }),
    )
    refresh('user:', 'users', 'orders')
    navigate(`/users/${user_id}`)
  }
  const remove = async () => {
    await api.deleteUser({ params: { user_id } })
    setIsOpen(false)
    refresh('user:', 'users', 'orders')
    navigate('/users')
    showToast(`Deleted ${client_user_id}.`, { action: { name: 'Undo', run: () => void undo() } })
  }
  return (
    <>
      <Button kind="danger" onClick={() => setIsOpen(true)}>
        Delete user
      </Button>
      {isOpen && (
        <FormDialog
          title="Delete this user?"
          submit="Delete user"
          danger
          disabled={confirmation.trim() !== client_user_id}
          onClose={() => setIsOpen(false)}
          onSubmit={remove}
        >
          <p>
            API requests stop returning the user immediately. For 7 days you can restore the user, and open orders continue. Then Assay
            permanently erases the user's demographics, results and wearable data.
          </p>
          <TextField label={`Type ${client_user_id} to confirm`} value={confirmation} onText={setConfirmation} autocomplete="off" />
        </FormDialog>
      )}
    </>
  )
}
