import { useState } from 'preact/hooks'
import { advanceClock, clockOffset, isSandbox, resetClock, teamNow, useTicks } from '../clock.ts'
import { formatDateTime, formatDuration } from '../format.ts'
import { useObservable } from '../observable.ts'
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

/** The sandbox's clock: where it stands, and the way to move it. */
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
  const [hours, setHours] = useState('')
  const advance = async (seconds: number, name: string) => {
    await advanceClock(seconds)
    showToast(`The team's clock went ${name} ahead, and everything due by then has happened.`)
  }
  return (
    <Dialog title="Sandbox clock" onClose={onClose}>
      <p>
        It is <strong>{formatDateTime(new Date(teamNow()).toISOString())}</strong> for this team, {describeOffset(offsetMs)}.
      </p>
      <p class="muted">
        Move it forward and everything due by then happens in order: held orders go to the lab, couriers deliver, results arrive.
      </p>
      <div class="row wrap" role="group" aria-label="Move forward by">
        {presets.map(([name, seconds]) => (
          <AsyncButton key={name} action={() => advance(seconds, name)}>
            +{name}
          </AsyncButton>
        ))}
      </div>
      <div class="row top">
        <TextField label="Hours" type="number" min="0.1" step="0.1" value={hours} onText={setHours} />
      </div>
      <div class="actions">
        <AsyncButton
          kind="plain"
          disabled={!offsetMs}
          action={async () => {
            await resetClock()
            showToast('The clock shows real time again.')
          }}
        >
          Back to real time
        </AsyncButton>
        <AsyncButton disabled={!(Number(hours) > 0)} action={() => advance(Number(hours) * HOUR_SECONDS, `${hours} hours`)}>
          Move by hours
        </AsyncButton>
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      </div>
    </Dialog>
  )
}
