import { useState } from 'preact/hooks'
import { type ApiError, api, fieldErrors } from '../../api.ts'
import { humanize } from '../../format.ts'
import { refresh, useQuery } from '../../query.ts'
import { can, session, teamParams } from '../../session.ts'
import { AsyncButton, Card, DescriptionList, Id, Notice, Time } from '../../ui/basics.tsx'
import { Checkbox, SelectField, TextField } from '../../ui/forms.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { RateFields, rateFrom, rateText } from '../../ui/rate.tsx'
import { QueryView } from '../../ui/table.tsx'
import { showToast } from '../../ui/toasts.tsx'

type Team = Awaited<ReturnType<typeof api.getTeam>>
type TeamSettings = NonNullable<Team['sandbox']>

const featureSettings: [name: keyof TeamSettings & string, label: string, about: string][] = [
  ['lab_tests_patient_sms_communication_enabled', 'Patient text messages', 'Stored only. Assay sends no text messages.'],
  [
    'lab_tests_patient_email_communication_enabled',
    'Patient emails',
    'Sent about visits, kits and results if the service has a mail server.',
  ],
  ['partial_webhooks_enabled', 'Partial result webhooks', 'Send partial results to webhooks and pipelines.'],
  ['booking_before_requisition', 'Early booking', 'Visits can be reserved before the lab has accepted the order.'],
  ['minor_ordering_enabled', 'Orders for minors', 'Requires a medical proxy.'],
  ['strict_enums', 'Strict enumerations', 'Show null instead of Not Specified, for typed clients.'],
  ['reject_duplicate_connection', 'Reject duplicate connections', 'A source account can connect to one user only.'],
  ['sdk_per_device_activity_timeseries', 'Activity per device', 'Stored only. No effect yet.'],
  ['patient_experience', 'Patient experience', 'Stored only. No effect yet.'],
]

const listFrom = (text: string) =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean)

export function Settings() {
  const { org_id, team_id } = teamParams()
  const team = useQuery(`team:${team_id}`, () => api.getTeam({ params: { org_id, team_id } }))
  return (
    <>
      <PageHeader title="Team settings" />
      <QueryView query={team}>{(team) => <Form key={team.id} team={team} />}</QueryView>
    </>
  )
}

function Form({ team }: { team: Team }) {
  const { org_id, team_id, env } = teamParams()
  const [name, setName] = useState(team.name)
  const [settings, setSettings] = useState<TeamSettings | null>(team[env])
  const [rate, setRate] = useState(rateText(team.rate_limit))
  const [contacts, setContacts] = useState(settings?.critical_result_contacts.join(', ') ?? '')
  const [waits, setWaits] = useState(settings?.critical_escalation_minutes.join(', ') ?? '')
  const [error, setError] = useState<ApiError>()
  if (!settings) return <Notice tone="idle">This team has no settings in this environment.</Notice>
  const save = async () => {
    setError(undefined)
    const { critical_result_notification_email, simulator, time_zone, logo_url, patient_language } = settings
    const body = {
      ...Object.fromEntries(featureSettings.map(([name]) => [name, settings[name]])),
      critical_result_notification_email: critical_result_notification_email || null,
      time_zone: time_zone || null,
      logo_url: logo_url || null,
      patient_language: patient_language as 'en' | 'es',
      critical_result_contacts: listFrom(contacts),
      critical_escalation_minutes: listFrom(waits).map(Number),
      ...(env === 'sandbox' ? { simulator: simulator as 'manual' | 'auto' } : {}),
    }
    const rate_limit = rateFrom(rate)
    await api.patchTeam({ params: { org_id, team_id }, body: { name, rate_limit, [env]: body } }).then(() => {
      refresh('team')
      showToast('Settings saved.')
    }, setError)
  }
  const errors = fieldErrors(error)
  const change = (part: Partial<TeamSettings>) => setSettings({ ...settings, ...part })
  return (
    <div class="columns">
      <div class="stack">
        <Card title="General">
          <div class="form-grid">
            <TextField label="Name" value={name} onText={setName} error={errors['name']} />
            <TextField
              label="Time zone"
              placeholder="America/New_York"
              hint="Used when an order's address does not give one."
              value={settings.time_zone ?? ''}
              onText={(time_zone) => change({ time_zone })}
              error={errors[`${env}.time_zone`]}
            />
            <TextField
              label="Critical result email"
              hint="A contact for critical results that are not acknowledged."
              type="email"
              value={settings.critical_result_notification_email ?? ''}
              onText={(critical_result_notification_email) => change({ critical_result_notification_email })}
              error={errors[`${env}.critical_result_notification_email`]}
            />
            <TextField
              label="More contacts for critical results"
              placeholder="desk@clinic.example, lead@clinic.example"
              value={contacts}
              onText={setContacts}
              error={errors[`${env}.critical_result_contacts`]}
            />
            <TextField
              label="Escalate critical results after"
              placeholder="15, 30, 60"
              hint="Minutes until each email to the contacts. The last wait repeats, and includes the administrators."
              value={waits}
              onText={setWaits}
              error={errors[`${env}.critical_escalation_minutes`]}
            />
            <SelectField
              label="Language of patient messages"
              value={settings.patient_language}
              options={[
                ['en', 'English'],
                ['es', 'Spanish'],
              ]}
              onSelect={(patient_language) => change({ patient_language })}
            />
            <TextField
              label="Logo URL"
              hint="Stored only. No effect yet."
              type="url"
              placeholder="https://…"
              value={settings.logo_url ?? ''}
              onText={(logo_url) => change({ logo_url })}
              error={errors[`${env}.logo_url`]}
            />
            {env === 'sandbox' && (
              <SelectField
                label="Simulator"
                hint="Manual: you advance each order. Automatic: orders advance with the clock."
                value={settings.simulator}
                options={[
                  ['manual', 'Manual'],
                  ['auto', 'Automatic'],
                ]}
                onSelect={(simulator) => change({ simulator })}
              />
            )}
          </div>
        </Card>
        <Card title="Request rate">
          <div class="stack">
            <p class="small muted">
              All keys and tokens of the team share this rate. An API key can have a rate of its own. Only an administrator of the
              organization can raise or remove a rate.
            </p>
            <RateFields value={rate} onChange={setRate} errors={errors} />
          </div>
        </Card>
        <Card title="Features">
          {featureSettings.map(([name, label, description]) => (
            <div key={name} class="setting-row">
              <Checkbox
                label={
                  <>
                    {label}
                    <span class="small muted"> {description}</span>
                  </>
                }
                value={Boolean(settings[name])}
                onChange={(on) => change({ [name]: on })}
              />
            </div>
          ))}
        </Card>
        {error && <Notice tone="bad">{error.message}</Notice>}
        <div>
          <AsyncButton kind="primary" action={save} disabled={!can('team.manage')}>
            Save
          </AsyncButton>
        </div>
      </div>
      <Card title="Team">
        <DescriptionList
          items={[
            ['Team ID', <Id id={team.id} what="team ID" />],
            ['Integration ID', team.integration_team_id],
            ['Region', team.region.toUpperCase()],
            ['Plan', humanize(session.get()?.org.plan)],
            ['Created', <Time at={team.created_on} isRealTime />],
          ]}
        />
      </Card>
    </div>
  )
}
