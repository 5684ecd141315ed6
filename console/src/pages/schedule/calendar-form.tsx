import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { humanize } from '../../format.ts'
import { useQuery } from '../../query.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/forms.tsx'
import { showToast } from '../../ui/toasts.tsx'
import { type CalendarText, calendarFrom, textOf, weekdays } from './calendar-text.ts'
import { type Calendar, changeSchedule } from './change-schedule.ts'

/** A site or phlebotomist. Working hours are text, such as 08:00-12:00, 13:00-17:00. */
export function CalendarForm({ existing, onClose }: { existing: Calendar | undefined; onClose: () => void }) {
  const [text, setText] = useState<CalendarText>(textOf(existing))
  const change = (part: Partial<CalendarText>) => setText({ ...text, ...part })
  const field = (name: keyof CalendarText & string, label: string, more: object = {}) => (
    <TextField label={label} value={text[name] as string} onText={(value) => change({ [name]: value })} {...more} />
  )
  const save = async () => {
    const calendar = calendarFrom(text)
    await changeSchedule((calendars) => [...calendars.filter(({ code }) => code !== calendar.code), calendar])
    onClose()
    showToast(`Saved ${calendar.name}.`)
  }
  return (
    <FormDialog title={existing ? `Change ${existing.name}` : 'Add calendar'} submit="Save" large onClose={onClose} onSubmit={save}>
      <div class="form-grid">
        <SelectField
          label="Kind"
          value={text.kind}
          options={['site', 'phlebotomist']}
          disabled={existing !== undefined}
          onSelect={(kind) => change({ kind: kind as CalendarText['kind'], provider: kind === 'site' ? '' : 'getlabs' })}
        />
        {field('code', 'Code', { required: true, disabled: existing !== undefined, hint: 'Unique in the team.' })}
        {field('name', 'Name', { required: true })}
        {text.kind === 'site' ? <LabField text={text} change={change} /> : field('provider', 'Service', { required: true })}
        {field('iana_timezone', 'Time zone', { required: true, placeholder: 'America/Phoenix' })}
        {field('slot_minutes', 'Minutes per visit', { type: 'number', required: true, min: 5, step: 5 })}
        {field('notice_minutes', 'Notice in minutes', { type: 'number', required: true, min: 0 })}
        {text.kind === 'site' && field('capacity', 'Visits at the same time', { type: 'number', required: true, min: 1 })}
        {text.kind === 'site' && field('phone_number', 'Phone', { type: 'tel' })}
        {text.kind === 'site' ? (
          <>
            {field('first_line', 'Street', { required: true })}
            {field('city', 'City', { required: true })}
            {field('state', 'State', { required: true })}
            {field('zip_code', 'ZIP code', { required: true })}
            {field('lat', 'Latitude', { required: true })}
            {field('lng', 'Longitude', { required: true })}
          </>
        ) : (
          field('zones', 'Travel zones', { full: true, required: true, hint: 'ZIP codes with a radius in miles, such as 85004 15, 85701.' })
        )}
        {weekdays.map((day) => (
          <TextField
            key={day}
            label={humanize(day)}
            placeholder="08:00-12:00, 13:00-17:00"
            value={text.hours[day] ?? ''}
            onText={(value) => change({ hours: { ...text.hours, [day]: value } })}
          />
        ))}
        {field('holidays', 'Days off', { full: true, hint: 'Dates such as 2026-12-25, separated by commas.' })}
      </div>
    </FormDialog>
  )
}

type LabFieldProps = { text: CalendarText; change: (part: Partial<CalendarText>) => void }

function LabField({ text, change }: LabFieldProps) {
  const labs = useQuery('labs', () => api.listLabs())
  const options = (labs.data ?? []).map(({ slug, name }): [string, string] => [slug, name])
  return (
    <SelectField label="Lab" placeholder="Choose" value={text.provider} options={options} onSelect={(provider) => change({ provider })} />
  )
}
