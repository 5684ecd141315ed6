import { isSandbox } from '../../clock.ts'
import { Link } from '../../router.tsx'
import { session } from '../../session.ts'
import { Card } from '../../ui/basics.tsx'

/** What to do in a team where nothing has happened yet. */
export const FirstSteps = () => (
  <Card title="Begin here">
    <ol class="steps">
      <li>
        <Link to="/users">Create a user</Link>: one of your patients or members, by an id of your own.
      </li>
      <li>
        <Link to="/orders/new">Place an order</Link>: it is checked while you type
        {isSandbox() && ', and in the sandbox you can walk it to its results'}.
      </li>
      {session.get()?.kind !== 'team' && (
        <li>
          <Link to="/webhooks">Create a webhook</Link> and send it an example.
        </li>
      )}
      {isSandbox() && (
        <li>
          <Link to="/inbox">Open the sandbox inbox</Link> to see what a webhook would be told, without a receiver.
        </li>
      )}
      <li>
        <a href="/docs/quick-start">Follow the quick start</a> and call the same from your own code; the{' '}
        <a href="/docs/reference">API reference</a> has every endpoint.
      </li>
    </ol>
  </Card>
)
