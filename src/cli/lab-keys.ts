import { Id, Text } from '../contract/common.ts'
import { listLabs } from '../labs/catalog/markers.ts'
import type { App } from '../platform/app.ts'
import { setupProblem } from '../platform/problem.ts'
import { createLabKey, listLabKeys, revokeLabKey } from '../tenants/keys/lab-keys.ts'
import { command, print } from './command.ts'
import { requireLab } from './labs.ts'
import { listing } from './listing.ts'
import { recordOperator } from './record-operator.ts'
import { withApp } from './with-app.ts'

export const createLabKeyCommand = command({
  name: 'lab-keys create',
  summary: 'Create a key for a partner lab and print it once.',
  options: {
    lab: { value: 'SLUG', what: 'Slug of the lab.', required: true },
    label: { value: 'TEXT', what: 'Label of the key.', shape: Text(100), required: true },
  },
  async run({ lab, label, json }) {
    const created = await withApp((app) =>
      recordOperator(
        app,
        'create lab key',
        (app) => create(app, lab, label),
        ({ id }) => `key_id:${id}`,
      ),
    )
    print(json, created, [created.key])
  },
})

async function create(app: App, slug: string, label: string) {
  const { id: lab_id, slug: lab } = await requireLab(app, slug)
  const { id, key } = await createLabKey(app, { lab_id, label })
  return { id, key, lab, label }
}

export const listLabKeysCommand = command({
  name: 'lab-keys list',
  summary: 'List the active lab keys with their prefix and last use.',
  options: { lab: { value: 'SLUG', what: 'Only keys of this lab.' } },
  async run({ lab, json }) {
    const keys = await withApp((app) => list(app, lab))
    print(
      json,
      keys,
      listing(
        ['KEY ID', 'LAB', 'PREFIX', 'LABEL', 'LAST USED'],
        keys.map(({ id, lab, prefix, label, last_used_at }) => [id, lab, `${prefix}…`, label, last_used_at ?? 'never']),
      ),
    )
  },
})

async function list(app: App, slug: string | undefined) {
  const labs = slug === undefined ? await listLabs(app) : [await requireLab(app, slug)]
  const slugs = new Map(labs.map(({ id, slug }) => [id, slug]))
  const keys = await listLabKeys(app, [...slugs.keys()])
  return keys.map(({ id, lab_id, ...key }) => ({ id, lab: slugs.get(lab_id) as string, ...key }))
}

export const revokeLabKeyCommand = command({
  name: 'lab-keys revoke',
  summary: 'Revoke a lab key immediately.',
  options: { id: { value: 'ID', what: 'Key ID from assay lab-keys list.', shape: Id, required: true } },
  async run({ id, json }) {
    await withApp((app) =>
      recordOperator(
        app,
        'revoke lab key',
        (app) => revoke(app, id),
        () => `key_id:${id}`,
      ),
    )
    print(json, { revoked: id }, [`revoked ${id}`])
  },
})

async function revoke(app: App, id: string) {
  if (!(await revokeLabKey(app, id))) throw setupProblem('No active lab key has this ID; list active keys with: assay lab-keys list')
}
