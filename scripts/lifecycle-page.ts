import { canBecome, isEnd, type Method, methods, statusOfStep, stepsOf } from '../src/contract/labs/lifecycle.ts'
import { stepMeanings } from '../src/contract/labs/step-meanings.ts'
import { usualPath } from './lifecycle-diagram.ts'
import { lifecycleSvg } from './lifecycle-svg.ts'
import { bullets, code, codes, inlineCode, prose, table } from './markdown.ts'

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
    ...prose(
      'An order moves through steps that depend on its collection method. Each step adds an order event, and the status of the order is `<phase>.<method>.<step>`, such as `received.walk_in_test.ordered`.',
      'This page shows the steps and which step can follow which. [Lab orders](orders.md) explains what moves an order and how to cancel one. The page is generated from `src/contract/labs/lifecycle.ts` by `npm run generate`.',
    ),
    '## Steps',
    '',
    ...table(
      ['Step', 'Meaning'],
      Object.entries(stepMeanings).map(([step, meaning]) => [code(step), inlineCode(meaning)]),
    ),
    '## Read the diagrams',
    '',
    ...bullets([
      'Time runs from top to bottom, grouped by phase.',
      'The thick line on the left is the usual path, which the simulator takes.',
      'The lines on the right are all other transitions. A step joins a line at a dot, and the line ends at the arrow.',
      'Lines that cross without a dot are not connected.',
      'A round arrow marks a step that can repeat.',
    ]),
    ...prose('The table below each diagram lists the same transitions.'),
    ...methods.flatMap(section),
  ].join('\n')

const section = (method: Method) => [
  `## ${titles[method]}`,
  '',
  `![Steps and transitions of ${method} orders; the table below lists them](diagrams/${method}.svg)`,
  '',
  ...bullets([
    `Usual path: ${codes(usualPath(method))}.`,
    `Can be canceled in: ${codes(cancellableIn(method))}.`,
    `Other final steps: ${codes(otherEnds(method))}.`,
  ]),
  ...table(
    ['Status', 'Next steps'],
    Object.entries(stepsOf(method)).map(([low, { to }]) => [code(statusOfStep(method, low)), to.length ? codes(to) : 'none (final)']),
  ),
]

const stepsIn = (method: Method) => Object.keys(stepsOf(method))

const cancellableIn = (method: Method) => stepsIn(method).filter((low) => canBecome(method, low, 'cancelled'))

const otherEnds = (method: Method) => stepsIn(method).filter((low) => isEnd(method, low) && low !== 'cancelled')

/** Compares the collection methods, for the page about orders. */
export const methodsTable = () =>
  table(
    ['Method', 'Usual path', 'Can be canceled in', 'Other final steps'],
    methods.map((method) => [code(method), usualPath(method).join(' → '), codes(cancellableIn(method)), codes(otherEnds(method))]),
  )
