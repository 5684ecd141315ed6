import { isSandbox } from '../../clock.ts'
import { Link } from '../../router.tsx'
import { session } from '../../session.ts'
import { Card } from '../../ui/basics.tsx'

export const FirstSteps = () => (
  <Card title="Get started">
    <ol class="steps">
      <li>
        <Link to="/users">Create a user</Link> for a patient, with an ID from your system.
      </li>
      <li>
        <Link to="/orders/new">Place an order</Link>. The form checks it as you type
        {isSandbox() && ', and in the sandbox you can simulate its results'}.
      </li>
      {session.get()?.kind !== 'team' && (
        <li>
          <Link to="/webhooks">Create a webhook</Link> and send it an example event.
        </li>
      )}
      {isSandbox() && (
        <li>
          <Link to="/inbox">Open the sandbox inbox</Link> to see webhook messages without setting up a receiver.
        </li>
      )}
      <li>
        <a href="/docs/quick-start">Follow the quick start</a> to call the API from your code. The{' '}
        <a href="/docs/reference">API reference</a> lists every endpoint.
      </li>
    </ol>
  </Card>
)
