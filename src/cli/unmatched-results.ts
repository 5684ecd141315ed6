import { Id } from '../contract/common.ts'
import { assignUnassignedResult, listUnassignedResults } from '../labs/unmatched/operator-queue.ts'
import { command, print } from './command.ts'
import { listing } from './listing.ts'
import { recordOperator } from './record-operator.ts'
import { asTeam, readText, serviceOptions } from './service.ts'
import { withApp } from './with-app.ts'

export const listUnmatched = command({
  name: 'unmatched-results list',
  summary: 'List the lab results whose lab account belongs to no team or to several. The output has no health data.',
  options: {},
  async run({ json }) {
    const results = await withApp(listUnassignedResults)
    print(
      json,
      results,
      listing(
        ['RESULT ID', 'LAB', 'STATUS', 'INTERPRETATION', 'MESSAGE', 'RECEIVED'],
        results.map(({ id, lab, result_status, interpretation, message_ref, created_at }) => [
          ...[id, lab, result_status, interpretation, message_ref, created_at],
        ]),
      ),
    )
  },
})

export const assignUnmatched = command({
  name: 'unmatched-results assign',
  summary: 'Move a lab result to the queue of a team, where a person accepts or rejects it. The team can then read it.',
  options: {
    id: { value: 'ID', what: 'Result ID from assay unmatched-results list.', shape: Id, required: true },
    team: { value: 'ID', what: 'Team that the result belongs to.', shape: Id, required: true },
  },
  async run({ id, team, json }) {
    const assigned = await withApp((app) =>
      recordOperator(
        app,
        'assign unmatched result',
        (app) => assignUnassignedResult(app, id, team),
        ({ raw_result_id }) => `raw_result_id:${raw_result_id} team_id:${team}`,
      ),
    )
    print(json, assigned, [`assigned ${assigned.raw_result_id}`])
  },
})

export const acceptUnmatched = command({
  name: 'unmatched-results accept',
  summary: 'Accept an unmatched result for an order. If the name, birth date or sex differs, explain it in the file of --note-file.',
  options: {
    ...serviceOptions,
    id: { value: 'ID', what: 'Result ID from GET /v3/unmatched_result.', shape: Id, required: true },
    order: { value: 'ID', what: 'Order that the result belongs to.', shape: Id, required: true },
    'note-file': {
      value: 'FILE',
      what: 'File that says why the patient is the same person. Use - for standard input. Stored encrypted.',
      file: true,
    },
  },
  async run({ id, order: order_id, 'note-file': file, json, ...access }) {
    const note = file && readText(file).trim()
    const order = await asTeam(access).api.acceptUnmatchedResult({
      params: { raw_result_id: id },
      body: { order_id, ...(note ? { note } : {}) },
    })
    print(json, order, [`filed with ${order.id}`])
  },
})
