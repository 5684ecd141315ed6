import { constants } from 'node:os'
import { readConfig } from '../platform/config.ts'
import { createLog } from '../platform/log.ts'
import { Problem } from '../platform/problem.ts'
import type { RunningService } from '../start.ts'
import { command } from './command.ts'
import { reasonOf } from './failure.ts'

export const serveCommand = command({
  name: 'serve',
  summary: 'Start the service. npm start runs this command. With --json it prints its address in one line, without keys.',
  options: {},
  examples: ['PORT=9000 assay serve'],
  run: ({ json }) => serve(json),
})

/** Starts the service, prints its address, and shuts down cleanly on a signal. */
export async function serve(json = false) {
  // Until the service is up, a signal ends the process immediately. PID 1 of a container has no default handler for it.
  let stop = (signal: NodeJS.Signals): void => process.exit(128 + constants.signals[signal])
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop(signal))
  const service = await startOrExit(json)
  stop = () => {
    stop = () => {}
    void service.close().then(
      () => {
        if (process.stdout.isTTY) console.log('Stopped.')
        process.exit(0)
      },
      () => process.exit(1),
    )
  }
  console.log(json ? JSON.stringify(addressesOf(service)) : greeting(service, process.stdout.isTTY === true))
}

const addressesOf = ({ listening, credentials: { base_url, org_id, team_id, path } }: RunningService) => ({
  base_url,
  listening,
  org_id: org_id ?? null,
  team_id: team_id ?? null,
  credentials: path,
})

async function startOrExit(json: boolean) {
  try {
    const config = readConfig()
    // Help and rejected settings do not need the service.
    const { startService } = await import('../start.ts')
    return await startService(config, createLog(config))
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    console.error(json ? JSON.stringify({ error: reasonOf(error) }) : error.message)
    process.exit(1)
  }
}

/** Keys are printed on a terminal only, so that they never end up in container logs. */
function greeting({ service, listening, credentials }: RunningService, onTerminal: boolean) {
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
