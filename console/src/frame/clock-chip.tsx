import { useState } from 'preact/hooks'
import { advanceClock, clockOffset, isSandbox, resetClock, teamNow, useTicks } from '../clock.ts'
import { formatDateTime, formatDuration } from '../format.ts'
import { useObservable } from '../observable.ts'
import { can } from '../session.ts'
import { AsyncButton, Button } from '../ui/basics.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/forms.tsx'
import { Icon } from '../ui/icons.tsx'
import { showToast } from '../ui/toasts.tsx'

const HOUR_SECONDS = 3600
const presets: [name: string, seconds: number][] = [
  ['1 hour', HOUR_SECONDS],
  ['1 day', 24 * HOUR_SECONDS],
  ['3 days', 72 * HOUR_SECONDS],
  ['1 week', 168 * HOUR_SECONDS],
  ['1 month', 730 * HOUR_SECONDS],
]

export function ClockChip() {
  const offsetMs = useObservable(clockOffset)
  const [isOpen, setIsOpen] = useState(false)
  useTicks()
  if (!isSandbox()) return null
  return (
    <>
      <Button
        small
        class="clock-chip"
        {...(offsetMs ? { 'data-moved': true } : {})}
        onClick={() => setIsOpen(true)}
        aria-label={`Sandbox clock, ${describeOffset(offsetMs)}`}
      >
        <Icon name="clock" />
        {offsetMs ? `+${formatDuration(offsetMs)}` : <span>Clock</span>}
      </Button>
      {isOpen && <ClockDialog offsetMs={offsetMs} onClose={() => setIsOpen(false)} />}
    </>
  )
}

const describeOffset = (offsetMs: number) => (offsetMs ? `${formatDuration(offsetMs)} ahead` : 'real time')

function ClockDialog({ offsetMs, onClose }: { offsetMs: number; onClose: () => void }) {
  return (
    <Dialog title="Sandbox clock" onClose={onClose}>
      <p>
        Team time: <strong>{formatDateTime(new Date(teamNow()).toISOString())}</strong> ({describeOffset(offsetMs)}).
      </p>
      <p class="muted">
        Advancing the clock runs everything that becomes due, in order. Scheduled orders go to the lab. If the team's simulator is
        automatic, kits are delivered and results arrive.
      </p>
      {can('sandbox.advance') ? (
        <ClockControls offsetMs={offsetMs} onClose={onClose} />
      ) : (
        <>
          <p>Your role can't move the clock.</p>
          <div class="actions">
            <DoneButton onClose={onClose} />
          </div>
        </>
      )}
    </Dialog>
  )
}

function ClockControls({ offsetMs, onClose }: { offsetMs: number; onClose: () => void }) {
  const [hours, setHours] = useState('')
  const advance = async (seconds: number, name: string) => {
    await advanceClock(seconds)
    showToast(`Clock advanced by ${name}. Everything that became due has run.`)
  }
  return (
    <>
      <div class="row wrap" role="group" aria-label="Advance by">
        {presets.map(([name, seconds]) => (
          <AsyncButton key={name} action={() => advance(seconds, name)}>
            +{name}
          </AsyncButton>
        ))}
      </div>
      <div class="row">
        <TextField label="Hours" type="number" min="0.1" step="0.1" value={hours} onText={setHours} />
      </div>
      <div class="actions">
        <AsyncButton
          kind="plain"
          disabled={!offsetMs}
          action={async () => {
            await resetClock()
            showToast('Clock reset to real time.')
          }}
        >
          Reset to real time
        </AsyncButton>
        <AsyncButton disabled={!(Number(hours) > 0)} action={() => advance(Number(hours) * HOUR_SECONDS, `${hours} hours`)}>
          Advance by hours
        </AsyncButton>
        <DoneButton onClose={onClose} />
      </div>
    </>
  )
}

const DoneButton = ({ onClose }: { onClose: () => void }) => (
  <Button kind="primary" onClick={onClose}>
    Done
  </Button>
)
