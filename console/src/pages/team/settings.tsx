import { useState } from 'preact/hooks'
import { api, type Failure, fieldProblems } from '../../api.ts'
import { refresh, useQuery } from '../../query.ts'
import { may, session, teamPath } from '../../session.ts'
import { Card, Doing, Facts, Id, Notice, Time } from '../../ui/basics.tsx'
import { Check, SelectField, TextField } from '../../ui/forms.tsx'
import { Head } from '../../ui/head.tsx'
import { Loaded } from '../../ui/table.tsx'
import { say } from '../../ui/toasts.tsx'
import { words } from '../../words.ts'

type Team = Awaited<ReturnType<typeof api.getTeam>>
type Set = NonNullable<Team['sandbox']>

const switches: [name: keyof Set & string, label: string, about: string][] = [
  ['lab_tests_patient_sms_communication_enabled', 'Texts to patients', 'Kept only: nothing is sent to patients from here.'],
  ['lab_tests_patient_email_communication_enabled', 'E-mails to patients', 'Kept only: nothing is sent to patients from here.'],
  ['partial_webhooks_enabled', 'Partial results by webhook', 'Webhooks are told of partial reports too.'],
  ['minor_ordering_enabled', 'Orders for minors', 'With a medical proxy.'],
  ['reject_duplicate_connection', 'Refuse duplicate connections', 'One account of a source connects to one user only.'],
  ['sdk_per_device_activity_timeseries', 'Activity by device', 'Kept only: nothing follows it yet.'],
  ['patient_experience', 'Patient experience', 'Kept only: nothing follows it yet.'],
]

export function Settings() {
  const { org_id, team_id } = teamPath()
  const team = useQuery(`team:${team_id}`, () => api.getTeam({ params: { org_id, team_id } }))
  return (
    <>
      <Head title="Team settings" />
      <Loaded of={team}>{(team) => <Form key={team.id} team={team} />}</Loaded>
    </>
  )
}

function Form({ team }: { team: Team }) {
  const { org_id, team_id, env } = teamPath()
  const [name, setName] = useState(team.name)
  const [set, setSet] = useState<Set | null>(team[env])
  const [error, setError] = useState<Failure>()
  if (!set) return <Notice tone="idle">The team has no settings here.</Notice>
  const save = async () => {
    setError(undefined)
    const { critical_result_notification_email, simulator, time_zone, logo_url } = set
    const body = {
      ...Object.fromEntries(switches.map(([name]) => [name, set[name]])),
      critical_result_notification_email: critical_result_notification_email || null,
      time_zone: time_zone || null,
      logo_url: logo_url || null,
      ...(env === 'sandbox' ? { simulator: simulator as 'manual' | 'auto' } : {}),
    }
    await api.patchTeam({ params: { org_id, team_id }, body: { name, [env]: body } }).then(() => {
      refresh('team')
      say('Saved.')
    }, setError)
  }
  const wrong = fieldProblems(error)
  const change = (part: Partial<Set>) => setSet({ ...set, ...part })
  return (
    <div class="columns">
      <div class="stack">
        <Card title="General">
          <div class="form-grid">
            <TextField label="Name" value={name} onText={setName} wrong={wrong['name']} />
            <TextField
              label="Time zone"
              placeholder="America/New_York"
              hint="For orders whose address tells none."
              value={set.time_zone ?? ''}
              onText={(time_zone) => change({ time_zone })}
              wrong={wrong[`${env}.time_zone`]}
            />
            <TextField
              label="E-mail for critical results"
              hint="Kept only: no e-mail is sent from here. Take labtest.result.critical by webhook."
              type="email"
              value={set.critical_result_notification_email ?? ''}
              onText={(critical_result_notification_email) => change({ critical_result_notification_email })}
              wrong={wrong[`${env}.critical_result_notification_email`]}
            />
            <TextField
              label="Logo"
              type="url"
              placeholder="https://…"
              value={set.logo_url ?? ''}
              onText={(logo_url) => change({ logo_url })}
              wrong={wrong[`${env}.logo_url`]}
            />
            {env === 'sandbox' && (
              <SelectField
                label="Simulator"
                value={set.simulator}
                options={[
                  ['manual', 'Orders move when asked'],
                  ['auto', 'Orders move by the clock'],
                ]}
                onChoose={(simulator) => change({ simulator })}
              />
            )}
          </div>
        </Card>
        <Card title="Switches">
          {switches.map(([name, label, about]) => (
            <div key={name} class="switch-row">
              <Check
                label={
                  <>
                    {label}
                    <span class="small muted"> {about}</span>
                  </>
                }
                value={Boolean(set[name])}
                onCheck={(on) => change({ [name]: on })}
              />
            </div>
          ))}
        </Card>
        {error && <Notice tone="bad">{error.message}</Notice>}
        <div>
          <Doing kind="primary" act={save} disabled={!may('team.manage')}>
            Save
          </Doing>
        </div>
      </div>
      <Card title="Team">
        <Facts
          of={[
            ['Team id', <Id id={team.id} what="team id" />],
            ['Your id', team.integration_team_id],
            ['Region', team.region.toUpperCase()],
            ['Plan', words(session.get()?.org.plan)],
            ['Created', <Time at={team.created_on} real />],
          ]}
        />
      </Card>
    </div>
  )
}
