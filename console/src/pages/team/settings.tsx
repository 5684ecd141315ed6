import { useState } from 'preact/hooks'
import { type ApiError, api, fieldErrors } from '../../api.ts'
import { humanize } from '../../format.ts'
import { refresh, useQuery } from '../../query.ts'
import { can, session, teamParams } from '../../session.ts'
import { AsyncButton, Card, DescriptionList, Id, Notice, Time } from '../../ui/basics.tsx'
import { Checkbox, SelectField, TextField } from '../../ui/forms.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { QueryView } from '../../ui/table.tsx'
import { showToast } from '../../ui/toasts.tsx'

type Team = Awaited<ReturnType<typeof api.getTeam>>
type TeamSettings = NonNullable<Team['sandbox']>

const featureSettings: [name: keyof TeamSettings & string, label: string, about: string][] = [
  ['lab_tests_patient_sms_communication_enabled', 'Texts to patients', 'Kept only: nothing is sent to patients from here.'],
  ['lab_tests_patient_email_communication_enabled', 'E-mails to patients', 'Kept only: nothing is sent to patients from here.'],
  ['partial_webhooks_enabled', 'Partial results by webhook', 'Webhooks are told of partial reports too.'],
  ['minor_ordering_enabled', 'Orders for minors', 'With a medical proxy.'],
  ['reject_duplicate_connection', 'Refuse duplicate connections', 'One account of a source connects to one user only.'],
  ['sdk_per_device_activity_timeseries', 'Activity by device', 'Kept only: nothing follows it yet.'],
  ['patient_experience', 'Patient experience', 'Kept only: nothing follows it yet.'],
]

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
  const [error, setError] = useState<ApiError>()
  if (!settings) return <Notice tone="idle">The team has no settings here.</Notice>
  const save = async () => {
    setError(undefined)
    const { critical_result_notification_email, simulator, time_zone, logo_url } = settings
    const body = {
      ...Object.fromEntries(featureSettings.map(([name]) => [name, settings[name]])),
      critical_result_notification_email: critical_result_notification_email || null,
      time_zone: time_zone || null,
      logo_url: logo_url || null,
      ...(env === 'sandbox' ? { simulator: simulator as 'manual' | 'auto' } : {}),
    }
    await api.patchTeam({ params: { org_id, team_id }, body: { name, [env]: body } }).then(() => {
      refresh('team')
      showToast('Saved.')
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
              hint="For orders whose address tells none."
              value={settings.time_zone ?? ''}
              onText={(time_zone) => change({ time_zone })}
              error={errors[`${env}.time_zone`]}
            />
            <TextField
              label="E-mail for critical results"
              hint="Kept only: no e-mail is sent from here. Take labtest.result.critical by webhook."
              type="email"
              value={settings.critical_result_notification_email ?? ''}
              onText={(critical_result_notification_email) => change({ critical_result_notification_email })}
              error={errors[`${env}.critical_result_notification_email`]}
            />
            <TextField
              label="Logo"
              type="url"
              placeholder="https://…"
              value={settings.logo_url ?? ''}
              onText={(logo_url) => change({ logo_url })}
              error={errors[`${env}.logo_url`]}
            />
            {env === 'sandbox' && (
              <SelectField
                label="Simulator"
                value={settings.simulator}
                options={[
                  ['manual', 'Orders move when asked'],
                  ['auto', 'Orders move by the clock'],
                ]}
                onSelect={(simulator) => change({ simulator })}
              />
            )}
          </div>
        </Card>
        <Card title="Switches">
          {featureSettings.map(([name, label, description]) => (
            <div key={name} class="switch-row">
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
            ['Team id', <Id id={team.id} what="team id" />],
            ['Your id', team.integration_team_id],
            ['Region', team.region.toUpperCase()],
            ['Plan', humanize(session.get()?.org.plan)],
            ['Created', <Time at={team.created_on} isRealTime />],
          ]}
        />
      </Card>
    </div>
  )
}
