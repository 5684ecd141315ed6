import type { RunningService } from '../start.ts'

/** What the service prints once it is ready: its address for a program, or how to use it for a person. */
export const greeting = (running: RunningService, json: boolean) =>
  json ? JSON.stringify(addressesOf(running)) : textGreeting(running, process.stdout.isTTY === true)

const addressesOf = ({ listening, credentials: { base_url, org_id, team_id, path } }: RunningService) => ({
  base_url,
  listening,
  org_id: org_id ?? null,
  team_id: team_id ?? null,
  credentials: path,
})

/** Keys are printed on a terminal only, so that they never end up in container logs. */
function textGreeting({ service, listening, credentials }: RunningService, onTerminal: boolean) {
  if (service.config.ROLE === 'worker')
    return [
      `Assay is ready at ${listening}`,
      '  role          worker, with /health, /ready and /metrics only',
      '',
      'Press Ctrl-C to stop.',
      '',
    ].join('\n')
  const { base_url, org_id, team_id, team_api_key, management_key, path } = credentials
  const showsKeys = onTerminal && credentials.hasNewKeys && team_api_key
  const key = showsKeys ? `'x-service-api-key: ${team_api_key}'` : '"x-service-api-key: $TEAM_API_KEY"'
  return [
    `Assay is ready at ${base_url}`,
    ...(base_url === listening ? [] : [`  listening     ${listening}`]),
    `  console       ${base_url}/console`,
    `                sign in with ${management_key ? `management_key in ${path}` : 'the management key that assay bootstrap printed'}`,
    '                create your own account: bin/assay.mjs people invite --role org_admin --email ADDRESS',
    `  docs          ${base_url}/docs (start with ${base_url}/docs/quick-start)`,
    `  org           ${org_id ?? '(none)'}`,
    `  team          ${team_id ?? '(none)'}`,
    ...(showsKeys ? [`  team key      ${team_api_key}`, `  management    ${management_key}`] : []),
    `  keys          ${team_api_key ? `in ${path}` : 'as printed by assay bootstrap; none are stored here'}`,
    '',
    'Try it:',
    ...(showsKeys || !team_api_key ? [] : [`  TEAM_API_KEY=$(sed -n 's/.*"team_api_key": "\\(.*\\)".*/\\1/p' "${path}")`]),
    `  curl -s -H ${key} ${base_url}/v2/user -H 'content-type: application/json' -d '{"client_user_id":"first-user"}'`,
    `  curl -s -H ${key} ${base_url}/v2/user`,
    `  curl -s -H ${key} ${base_url}/v2/user/resolve/first-user`,
    '',
    'Press Ctrl-C to stop.',
    '',
  ].join('\n')
}
