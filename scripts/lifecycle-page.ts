import { canBecome, isEnd, type Method, methods, statusOfStep, stepsOf } from '../src/contract/labs/lifecycle.ts'
import { usualWay } from './lifecycle-diagram.ts'
import { lifecycleSvg } from './lifecycle-svg.ts'

export const diagrams: Record<string, () => string> = Object.fromEntries(
  methods.map((method) => [`docs/diagrams/${method}.svg`, () => lifecycleSvg(method)]),
)

const titles: Record<Method, string> = {
  walk_in_test: 'Walk-in test',
  at_home_phlebotomy: 'At-home phlebotomy',
  testkit: 'Test kit',
  on_site_collection: 'On-site collection',
}

export const lifecyclePage = () =>
  [
    '# Order lifecycle',
    '',
    'An order takes one step after the other; each is an event of the order, and its status is `<top level>.<method>.<step>`, such as',
    '`received.walk_in_test.ordered`. Which step may follow which depends on the collection method. [Lab orders](orders.md) tells what moves an',
    'order, how it is cancelled, and what a lab may leave out.',
    'This page is made from `src/contract/labs/lifecycle.ts` by `npm run generate`.',
    '',
    'In the pictures time goes down, from phase to phase. The thick line on the left is the usual way, which the simulator takes. What else may',
    'follow is on the right: a step gets on a rail at a dot, and off where the arrow points. Lines that cross without a dot have nothing to do',
    'with each other. A round arrow marks a step that may follow itself. The table under each picture has the same arrows.',
    '',
    ...methods.flatMap(section),
  ].join('\n')

const section = (method: Method) => [
  `## ${titles[method]}`,
  '',
  `![The steps of ${method} orders and the arrows between them; the table below has the same](diagrams/${method}.svg)`,
  '',
  `The usual way: ${usualWay(method).join(' → ')}. It can be cancelled in ${code(cancellableIn(method))}, and may also end in ${code(otherEnds(method))}.`,
  '',
  '| Status | May be followed by |',
  '|---|---|',
  ...Object.entries(stepsOf(method)).map(
    ([low, { to }]) => `| \`${statusOfStep(method, low)}\` | ${to.length ? code([...to]) : '– (the end)'} |`,
  ),
  '',
]

const stepsIn = (method: Method) => Object.keys(stepsOf(method))

const cancellableIn = (method: Method) => stepsIn(method).filter((low) => canBecome(method, low, 'cancelled'))

const otherEnds = (method: Method) => stepsIn(method).filter((low) => isEnd(method, low) && low !== 'cancelled')

const code = (words: string[]) => words.map((word) => `\`${word}\``).join(', ')

/** The methods side by side, for the page about orders. */
export const methodsTable = () =>
  [
    '',
    '| Method | The usual way | Can be cancelled in | May also end in |',
    '|---|---|---|---|',
    ...methods.map(
      (method) => `| \`${method}\` | ${usualWay(method).join(' → ')} | ${code(cancellableIn(method))} | ${code(otherEnds(method))} |`,
    ),
    '',
    '',
  ].join('\n')
