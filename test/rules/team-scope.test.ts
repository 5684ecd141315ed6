import { describe, expect, test } from 'vitest'
import { isPlainRead, tablesWithoutTeam, undistributable } from '../support/team-scope.ts'

const columns = new Map([
  ['orders', 'team_id'],
  ['results', 'team_id'],
  ['audit_log', 'chain_id'],
])
const missingIn = (text: string) => tablesWithoutTeam(text, columns)

describe('a statement names its team', () => {
  test.each([
    'select * from orders where team_id = $1 and id = $2',
    'select * from orders where ($1::uuid, $2::uuid) = (team_id, id)',
    'select * from orders o join results r on r.team_id = o.team_id and r.order_id = o.id where o.team_id = $1',
    'select * from orders o where o.team_id = $1 and exists (select from results r where r.team_id = o.team_id)',
    'select * from orders o, lateral (select * from results r where r.team_id = o.team_id) x where o.team_id = $1',
    'with found as (select team_id, id from orders where team_id = $1) delete from results r using found f where r.team_id = f.team_id',
    'select * from audit_log where chain_id = $1',
    'insert into orders (team_id, id) values ($1, $2) on conflict (team_id, id) do update set id = excluded.id',
    'update orders set id = $1 where team_id = place_orders.team_id',
    'select * from payors',
    "select o.* from teams t join orders o on o.team_id = t.id where t.id = '4f1c5ab5-6f0f-4c0a-9a53-0b3b0d5d5a10'",
  ])('%s', (text) => expect(missingIn(text)).toEqual([]))
})

describe('a statement leaves out its team', () => {
  test.each([
    ['select * from orders where id = $1', ['orders']],
    ['select * from orders where team_id = $1 or id = $2', ['orders']],
    ['select * from orders where team_id <> $1', ['orders']],
    ['select * from orders o join results r on r.order_id = o.id where o.team_id = $1', ['results']],
    ['select * from orders o left join results r on r.team_id = o.team_id', ['orders', 'results']],
    ['select * from orders o where o.team_id = $1 and exists (select from results r where r.order_id = o.id)', ['results']],
    ['with found as (select id from orders where id = $1) select * from found', ['orders']],
    ['select * from orders where team_id = $1 union all select * from orders', ['orders']],
    ['insert into orders (id) values ($1)', ['orders']],
    ['insert into results (team_id, id) select team_id, id from orders', ['orders']],
    ['update orders set id = $1 where id = $2', ['orders']],
    ['delete from audit_log where at < $1', ['audit_log']],
    ['select o.* from teams t join orders o on o.team_id = t.id', ['orders']],
    ['declare dump cursor for select * from orders', ['orders']],
  ])('%s', (text, tables) => expect(missingIn(text)).toEqual(tables))
})

test.each([
  ['select * from orders', true],
  ['select * from orders for update skip locked', false],
  ['with gone as (delete from orders returning id) select * from gone', false],
  ['delete from orders', false],
])('reads without a lock: %s is %s', (text, expected) => expect(isPlainRead(text)).toBe(expected))

test.each([
  ['select xmin from orders where team_id = $1', ['xmin']],
  ['delete from orders o where o.team_id = $1 and o.ctid = any($2)', ['ctid']],
  ['insert into orders (team_id, at) values ($1, now()) on conflict (team_id) do update set at = excluded.at', []],
  ['insert into orders (team_id, at) values ($1, $2) on conflict (team_id) do update set at = now()', ['the time inside do update set']],
  [
    'insert into orders (team_id) values ($1) on conflict (team_id) do update set at = current_timestamp',
    ['the time inside do update set'],
  ],
])('a distributed table does not support: %s', (text, found) => expect(undistributable(text)).toEqual(found))
