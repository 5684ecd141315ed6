import { readConfig } from '../config.ts'
import { Problem } from '../problem.ts'
import { createLog, type Service, startService } from '../start.ts'

/** Starts the service, says where it is, and stops it in order on a signal. */
export async function serve() {
  const service = await started()
  console.log(greeting(service, process.stdout.isTTY === true))
  let stopping = false
  const stop = async () => {
    if (stopping) return
    stopping = true
    await service.close()
    process.exit(0)
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
}

async function started() {
  try {
    const config = readConfig()
    return await startService(config, createLog(config))
  } catch (error) {
    if (!(error instanceof Problem) && (error as { code?: string }).code !== 'EADDRINUSE') throw error
    console.error(error instanceof Problem ? error.message : `PORT is taken: ${(error as Error).message}`)
    process.exit(1)
  }
}

/** Keys are shown on a terminal only, so that they never land in the logs of a container. */
function greeting({ url, credentials }: Service, onTerminal: boolean) {
  const { org_id, team_id, team_api_key, management_key, path } = credentials
  const show = onTerminal && credentials.first && team_api_key
  const key = show ? team_api_key : '$TEAM_API_KEY'
  const curl = `curl -s -H 'x-service-api-key: ${key}'`
  return [
    `Assay is ready at ${url}`,
    `  docs          ${url}/docs`,
    `  org           ${org_id ?? '(none)'}`,
    `  team          ${team_id ?? '(none)'}`,
    ...(show ? [`  team key      ${team_api_key}`, `  management    ${management_key}`] : []),
    `  keys          kept in ${path}`,
    '',
    'Try it:',
    ...(show ? [] : [`  TEAM_API_KEY=$(sed -n 's/.*"team_api_key": "\\(.*\\)".*/\\1/p' ${path})`]),
    `  ${curl.replaceAll("'", show ? "'" : '"')} ${url}/v2/user -H 'content-type: application/json' -d '{"client_user_id":"first-user"}'`,
    `  ${curl.replaceAll("'", show ? "'" : '"')} ${url}/v2/user`,
    `  ${curl.replaceAll("'", show ? "'" : '"')} ${url}/v2/user/resolve/first-user`,
  ].join('\n')
}
