import { readFileSync } from 'node:fs'
import { publicKeys, readKeySet, verifyErasure, verifyOffline } from '../operations/user-deletion/certificate.ts'
import { setupProblem } from '../platform/problem.ts'
import { command, print } from './command.ts'
import { withApp } from './with-app.ts'

export const erasureVerify = command({
  name: 'erasure verify',
  summary:
    'Verify an erasure certificate: its signature, and that this database has neither the user nor their key. With --keys, the command checks the signature only, and needs neither a database nor a key. It exits with 1 if the certificate does not hold.',
  options: {
    file: { value: 'FILE', what: 'The response of GET /v2/user/{user_id}/erasure, or its jws.', required: true, file: true },
    keys: { value: 'FILE', what: 'The public keys of the deployment, from /.well-known/jwks.json.', file: true },
  },
  examples: ['assay erasure verify --file certificate.json', 'assay erasure verify --file certificate.json --keys jwks.json'],
  async run({ file, keys, json }) {
    const text = read(file)
    const { certificate, problems } = keys ? verifyOffline(keysIn(keys), text) : await withApp((app) => verifyErasure(app, text))
    print(json, { valid: !problems.length, problems, certificate }, [
      ...problems.map((reason) => `NOT VALID: ${reason}`),
      ...(certificate && !problems.length
        ? [`valid: user ${certificate.user_id} of team ${certificate.team_id} was erased at ${certificate.erased_at}`]
        : []),
    ])
    if (problems.length) process.exitCode = 1
  },
})

export const erasureKeys = command({
  name: 'erasure keys',
  summary: 'Print the public keys that verify erasure certificates, as /.well-known/jwks.json returns them.',
  options: {},
  async run() {
    console.log(JSON.stringify(await withApp(async (app) => publicKeys(app)), null, 2))
  },
})

function keysIn(path: string) {
  const keys = readKeySet(read(path))
  if (!keys) throw setupProblem(`${path} is no set of public keys; download it from /.well-known/jwks.json`)
  return keys
}

function read(path: string) {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw setupProblem(`${path} cannot be read (${(error as { code?: string }).code})`)
  }
}
