import { expect, test } from 'vitest'
import { BOX, type Box, diagramOf, SPINE } from '../../scripts/lifecycle-diagram.ts'
import { lifecycleSvg } from '../../scripts/lifecycle-svg.ts'
import { methods, stepsOf } from '../../src/contract/labs/lifecycle.ts'

test.each(methods)('the diagram of %s has every transition once', (method) => {
  const { boxes, spine, rails } = diagramOf(method)
  const drawn = [
    ...spine.map(([from, to]) => `${from.low} ${to.low}`),
    ...rails.flatMap(({ from, to }) => from.map(({ low }) => `${low} ${to.low}`)),
    ...boxes.filter(({ repeats }) => repeats).map(({ low }) => `${low} ${low}`),
  ]
  const expected = Object.entries(stepsOf(method)).flatMap(([low, { to }]) => to.map((next) => `${low} ${next}`))
  expect(drawn.sort()).toEqual(expected.sort())
  expect(boxes.map(({ low }) => low).sort()).toEqual(Object.keys(stepsOf(method)).sort())
})

test.each(methods)('the diagram of %s has no overlaps', (method) => {
  const { boxes, rails, spine, width, height } = diagramOf(method)
  const right = Math.max(...boxes.map((box) => box.x + box.width))
  for (const [i, box] of boxes.entries())
    for (const other of boxes.slice(i + 1)) expect(box.y + BOX < other.y || other.y + BOX < box.y).toBe(true)
  for (const rail of rails) {
    expect(rail.x).toBeGreaterThan(right)
    expect(rail.x).toBeLessThan(width)
    const same = rails.filter((other) => other !== rail && other.x === rail.x)
    expect(same.every((other) => other.end < rail.begin || rail.end < other.begin)).toBe(true)
  }
  const between = ([from, to]: [Box, Box]) => boxes.filter(({ y }) => y > from.y && y < to.y)
  expect(spine.flatMap(between).filter(({ x }) => x <= SPINE)).toEqual([])
  expect(spine.every(([from, to]) => from.y < to.y)).toBe(true)
  expect(Math.max(...boxes.map(({ y }) => y + BOX))).toBeLessThan(height)
})

test('the longest name fits into its box', () => {
  const longest = diagramOf('testkit').boxes.find(({ low }) => low === 'failure_to_deliver_to_customer') as Box
  // A monospaced letter is 0.6 times its font size wide.
  expect(longest.low.length * 12.5 * 0.6 + 12).toBeLessThan(longest.width - 12)
})

test('the SVG is self-contained, supports dark mode and has no scripts or links', () => {
  const svg = lifecycleSvg('walk_in_test')
  expect(svg).toMatch(/:root\{[^}]*--surface:#ffffff/)
  expect(svg).toMatch(/prefers-color-scheme:dark\)\{:root\{[^}]*--surface:#16191c/)
  expect(svg.replace('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:|<script|undefined|NaN|false/)
})
