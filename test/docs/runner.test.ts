import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { atEnd } from '../support/at-end.ts'
import { temporaryFolder } from '../support/world.ts'
import { follow } from './support/follow.ts'
import { isJson, isText } from './support/outcome.ts'
import { tools } from './support/tools.ts'

const server = createServer((request, response) => {
  const exists = request.url === '/there'
  response.writeHead(exists ? 200 : 404).end(JSON.stringify({ path: request.url, detail: exists ? null : { error_type: 'NOT_THERE' } }))
}).listen(0, '127.0.0.1')
atEnd(async () => server.close())

/** The faults of a page with these lines. */
async function faultsOf(...lines: string[]) {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'page.md'), ['# A page', ...lines, ''].join('\n'))
  const addresses = { '127.0.0.1:8080': `127.0.0.1:${(server.address() as AddressInfo).port}` }
  return (await follow('page.md', { folder, from: folder, addresses, env: {} })).faults
}

const call = (path: string) => ['```sh', `curl -s http://127.0.0.1:8080${path}`, '```']

const missing = ['bash', 'curl'].find((tool) => !tools.has(tool))
const pages = (title: string, run: () => Promise<void>) =>
  test.skipIf(missing)(missing ? `${title} (skipped: ${missing} is not installed)` : title, run)

pages('a correct page has no faults', async () => {
  expect(
    await faultsOf(
      ...call('/there'),
      '',
      '```json',
      '{ "path": "/th…" }',
      '```',
      ...call('/gone'),
      '```json status=404',
      '{ "detail": { "error_type": "NOT_THERE" } }',
      '```',
      '```js',
      'console.log(1 + 1)',
      '```',
      '```text',
      '2',
      '```',
    ),
  ).toEqual([])
})

pages('reports a failing line and the blocks that were not reached', async () => {
  const faults = await faultsOf('```sh', 'go() { false; }', 'echo before', 'go', '```', '', '```sh', 'echo after', '```')
  expect(faults).toEqual([expect.stringMatching(/^page\.md:5: failed: go\nbefore/), 'page.md:8: was not reached'])
})

pages('reports an error response that the page does not show or shows with another status', async () => {
  expect(await faultsOf(...call('/gone'))).toEqual([expect.stringMatching(/^page\.md:2: http\S+\/gone returned 404/)])
  expect(await faultsOf(...call('/gone'), '```json status=400', '{}', '```')).toHaveLength(1)
  expect(await faultsOf(...call('/there'), '```json status=404', '{}', '```')).toHaveLength(1)
})

pages('reports output that differs from the page', async () => {
  expect(await faultsOf(...call('/there'), '```json', '{ "path": "/elsewhere" }', '```')).toEqual([
    expect.stringMatching(/^page\.md:5: shows\n/),
  ])
  expect(await faultsOf('```sh', 'echo one', '```', '```text', 'two', '```')).toHaveLength(1)
})

pages('a saved file is available to the next block', async () => {
  expect(await faultsOf('```js file=two.mjs', 'console.log(2)', '```', '```sh', 'node two.mjs', '```', '```text', '2', '```')).toEqual([])
})

test('… matches anything within a line, or any lines if alone', () => {
  expect([isText('a … c\n…\nd', 'a b c\nx\ny\nd\n'), isText('a …', 'a b\nc'), isText('a.c', 'abc')]).toEqual([true, false, false])
  expect([isJson('{"a":["…"]}', '{"a":["x"],"b":1}'), isJson('{"a":["…"]}', '{"a":["x","y"]}'), isJson('{"a":null}', '{}')]).toEqual([
    true,
    false,
    false,
  ])
  expect([isJson('{"a":[1,"…"]}', '{"a":[1,2,3]}'), isJson('{"a":[2,"…"]}', '{"a":[1,2]}')]).toEqual([true, false])
})
