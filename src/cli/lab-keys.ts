import type { App } from '../app.ts'
import { Id, Text } from '../contract/common.ts'
import { createLabKey, listLabKeys, revokeLabKey } from '../keys/lab-keys.ts'
import { setupProblem } from '../problem.ts'
import { recordOperator } from './audited.ts'
import { type Command, options, print, required, shaped, withApp } from './command.ts'
import { namedLab } from './labs.ts'

const createUsage = 'assay lab-keys create --lab SLUG --label TEXT [--json]'

export const createKeyOfLab: Command = {
  usage: createUsage,
  summary: 'Make a key for a partner lab and show it this once.',
  async run(args) {
    const { values } = options(args, { lab: { type: 'string' }, label: { type: 'string' } }, createUsage)
    const slug = required(values.lab, '--lab', createUsage)
    const label = shaped(Text(100), required(values.label, '--label', createUsage), '--label')
    const made = await withApp((app) =>
      recordOperator(
        app,
        'create lab key',
        (app) => make(app, slug, label),
        ({ id }) => `key_id:${id}`,
      ),
    )
    print(values.json, made, [made.key])
  },
}

async function make(app: App, slug: string, label: string) {
  const { id: lab_id, slug: lab } = await namedLab(app, slug)
  const { id, key } = await createLabKey(app, { lab_id, label })
  return { id, key, lab, label }
}

const listUsage = 'assay lab-keys list [--lab SLUG] [--json]'

export const listKeysOfLabs: Command = {
  usage: listUsage,
  summary: 'List the live lab keys by their visible beginning, with their last use.',
  async run(args) {
    const { values } = options(args, { lab: { type: 'string' } }, listUsage)
    const keys = await withApp(async (app) => listLabKeys(app, values.lab === undefined ? undefined : (await namedLab(app, values.lab)).id))
    print(
      values.json,
      keys,
      keys.map(
        ({ id, lab, prefix, label, last_used_at }) =>
          `${id}  ${lab.padEnd(15)}  ${prefix}…  ${label}, last used ${last_used_at ?? 'never'}`,
      ),
    )
  },
}

const revokeUsage = 'assay lab-keys revoke --id ID [--json]'

export const revokeKeyOfLab: Command = {
  usage: revokeUsage,
  summary: 'Revoke a lab key at once.',
  async run(args) {
    const { values } = options(args, { id: { type: 'string' } }, revokeUsage)
    const id = shaped(Id, required(values.id, '--id', revokeUsage), '--id')
    await withApp((app) =>
      recordOperator(
        app,
        'revoke lab key',
        (app) => revoke(app, id),
        () => `key_id:${id}`,
      ),
    )
    print(values.json, { revoked: id }, [`revoked ${id}`])
  },
}

async function revoke(app: App, id: string) {
  if (!(await revokeLabKey(app, id))) throw setupProblem('There is no such live lab key; assay lab-keys list shows them')
}
