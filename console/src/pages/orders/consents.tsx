import { Card } from '../../ui/basics.tsx'
import { Checkbox } from '../../ui/forms.tsx'
import type { ConsentType } from './order-form.ts'

const labels: Record<ConsentType, string> = {
  'hipaa-authorization': 'HIPAA authorization',
  'notice-of-privacy-practices': 'Notice of privacy practices',
  'privacy-policy': 'Privacy policy',
  'telehealth-informed-consent': 'Telehealth informed consent',
  'terms-of-use': 'Terms of use',
  'mobile-terms-and-conditions': 'Mobile terms and conditions',
}

type ConsentsProps = { given: ConsentType[]; onChange: (given: ConsentType[]) => void }

export const Consents = ({ given, onChange }: ConsentsProps) => (
  <Card title="Consents">
    <fieldset class="stack tight">
      <legend>Consents the patient gave</legend>
      <p class="small muted">Check only the consents you obtained. The order records each one you check, and no other.</p>
      {(Object.keys(labels) as ConsentType[]).map((type) => (
        <Checkbox
          key={type}
          label={labels[type]}
          value={given.includes(type)}
          onChange={(on) => onChange(on ? [...given, type] : given.filter((consent) => consent !== type))}
        />
      ))}
    </fieldset>
  </Card>
)
