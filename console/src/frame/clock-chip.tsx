import { useState } from 'preact/hooks'
import { isSandbox, offset, resetClock, teamNow, travel, useTicks } from '../clock.ts'
import { useStore } from '../observable.ts'
import { Button, Doing } from '../ui/basics.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/forms.tsx'
import { Icon } from '../ui/icons.tsx'
import { say } from '../ui/toasts.tsx'
import { exact, span } from '../words.ts'

const HOUR = 3600
const leaps: [name: string, seconds: number][] = [
  ['1 hour', HOUR],
  ['1 day', 24 * HOUR],
  ['3 days', 72 * HOUR],
  ['1 week', 168 * HOUR],
  ['1 month', 730 * HOUR],
]

/** The sandbox's clock: where it stands, and the way to move it. */
export function ClockChip() {
  const ahead = useStore(offset)
  const [open, setOpen] = useState(false)
  useTicks()
  if (!isSandbox()) return null
  return (
    <>
      <Button
        small
        class="clock-chip"
        {...(ahead ? { 'data-moved': true } : {})}
        onClick={() => setOpen(true)}
        aria-label={`Sandbox clock, ${said(ahead)}`}
      >
        <Icon name="clock" />
        {ahead ? `+${span(ahead)}` : <span>Clock</span>}
      </Button>
      {open && <Travel ahead={ahead} onClose={() => setOpen(false)} />}
    </>
  )
}

const said = (ahead: number) => (ahead ? `${span(ahead)} ahead` : 'real time')

function Travel({ ahead, onClose }: { ahead: number; onClose: () => void }) {
  const [hours, setHours] = useState('')
  const leap = async (seconds: number, name: string) => {
    await travel(seconds)
    say(`The team's clock went ${name} ahead, and everything due by then has happened.`)
  }
  return (
    <Dialog title="Sandbox clock" onClose={onClose}>
      <p>
        It is <strong>{exact(new Date(teamNow()).toISOString())}</strong> for this team, {said(ahead)}.
      </p>
      <p class="muted">
        Move it forward and everything due by then happens in order: held orders go to the lab, couriers deliver, results arrive.
      </p>
      <div class="row wrap" role="group" aria-label="Move forward by">
        {leaps.map(([name, seconds]) => (
          <Doing key={name} act={() => leap(seconds, name)}>
            +{name}
          </Doing>
        ))}
      </div>
      <div class="row top">
        <TextField label="Hours" type="number" min="0.1" step="0.1" value={hours} onText={setHours} />
      </div>
      <div class="actions">
        <Doing
          kind="plain"
          disabled={!ahead}
          act={async () => {
            await resetClock()
            say('The clock shows real time again.')
          }}
        >
          Back to real time
        </Doing>
        <Doing disabled={!(Number(hours) > 0)} act={() => leap(Number(hours) * HOUR, `${hours} hours`)}>
          Move by hours
        </Doing>
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      </div>
    </Dialog>
  )
}
