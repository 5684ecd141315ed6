import type { sampleTypes } from '../../contract/labs/catalog.ts'
import type { Method } from '../../contract/labs/lifecycle.ts'

export type SampleType = (typeof sampleTypes)[number]

type Collection = { method: Method; sample_type: SampleType; fasting: boolean }

export function stepsFor({ method, sample_type, fasting }: Collection): string[] {
  const preparation = fasting ? fastingSteps : []
  if (method === 'testkit') return [...preparation, ...opening, ...atHome[sample_type], ...sending]
  return [...before[method], ...preparation, ...(providedByPatient[sample_type] ?? bloodDrawSteps), ...after[method]]
}

const fastingSteps = [
  'Do not eat or drink anything but plain water for 8 to 12 hours before the collection. An early morning collection makes this easier.',
  'Keep taking your medications as prescribed unless your physician tells you otherwise. If fasting may not be safe for you, for example because of diabetes, ask your physician first.',
]

const opening = [
  'Read all steps before you begin. Check that the kit is complete, sealed and not past its expiration date. If it is not, do not use it and ask for a new kit.',
  'Register the kit if you were asked to. Write your full name, your date of birth and the date and time of collection on the specimen label. The lab cannot test a specimen without them.',
  'Wash your hands with soap and warm water and dry them.',
]

const sending = [
  'Put the closed specimen container into the protective bag. Put the bag into the return box with any form that came with the kit.',
  'Ship the box on the day of collection with the return label from the kit. Do not leave it in a hot car or outside. Avoid collecting on the day before a weekend or holiday.',
]

const fingertip = [
  'Let your arm hang down and warm your hand for a few minutes. This helps the blood flow.',
  'Clean the side of the tip of your middle or ring finger with the alcohol wipe and let it air-dry.',
  'Press the lancet firmly against the side of the fingertip until it clicks. Wipe away the first drop with the gauze.',
  'Let one drop fall onto each circle of the card. The blood must soak through. Do not smear it, do not touch the card with your finger, and do not put two drops on one circle.',
  'Press the gauze on your finger until the bleeding stops, then apply the bandage.',
  'Lay the card flat and let it air-dry for at least 3 hours, away from sun and heat. Do not close it before it is dry.',
]

const upperArm = [
  'Rub your upper arm for a minute, or warm it with the pack from the kit. Clean the skin with the alcohol wipe and let it dry.',
  'Remove the cover of the device and press the device firmly onto the clean skin. It stays in place.',
  'Press the button once. Keep your arm still and relaxed until the tube is filled to the mark. This takes a few minutes.',
  'Remove the device slowly, press the gauze on the skin and apply the bandage.',
  'Close the tube until it clicks. Turn it over gently 8 to 10 times. Do not shake it.',
]

const spit = [
  'Do not eat, drink, smoke, chew gum or brush your teeth for 30 minutes before the collection.',
  'Rinse your mouth with water and wait 10 minutes.',
  'Let saliva collect in your mouth, then let it run into the tube up to the mark. Foam does not count.',
  'Close the tube tightly. If the kit includes a liquid, release it into the tube as shown and turn the tube over 5 times.',
]

const midstream = [
  'Clean yourself with the wipe from the kit, from front to back.',
  'Begin to urinate into the toilet, then hold the cup in the stream and fill it to the mark. Do not touch the inside of the cup.',
  'If the kit has a tube, fill it from the cup right away. Close it tightly and wipe it dry.',
]

const stoolSample = [
  'Urinate first. Then catch the stool with the paper or tray from the kit. Keep it away from water and urine.',
  'Open the tube. With its spoon, take small portions from several parts of the stool, up to the mark. Do not add more.',
  'Close the tube tightly and shake it until the specimen mixes with the liquid. Do not pour the liquid out. If it touches your skin or eyes, rinse with water.',
  'Flush away the rest and wash your hands.',
]

const venous = [
  'A kit for blood from a vein is not for self-collection. Take the unopened kit and these instructions to a phlebotomist.',
  'For the phlebotomist: fill the tube to the mark, turn it over gently 5 to 10 times, leave it upright for 30 minutes and centrifuge it as the tube requires.',
]

const atHome: Record<SampleType, string[]> = {
  dried_blood_spot: fingertip,
  arm_collector: upperArm,
  serum: venous,
  saliva: spit,
  urine: midstream,
  stool: stoolSample,
}

const bloodDrawSteps = [
  'Drink a glass of water an hour before, and wear sleeves that are easy to roll up.',
  'Tell the phlebotomist if you have ever fainted, bruise easily, take blood thinners, or are allergic to latex or adhesive tape.',
  'Press on the puncture site for a few minutes afterward. Do not lift anything heavy with that arm for an hour.',
]

/** Specimens that the patient provides even at a collection site. */
const providedByPatient: Partial<Record<SampleType, string[]>> = {
  saliva: [...spit.slice(0, 2), 'Let saliva run into the tube that the staff gives you, up to the mark. Close it and hand it back.'],
  urine: [
    'Drink a glass of water beforehand. Do not empty your bladder in the hour before the collection.',
    ...midstream.slice(0, 2),
    'Close the cup and hand it back.',
  ],
  stool: ['Ask for the container ahead of time. You may collect the specimen at home.', ...stoolSample.slice(0, 3)],
}

const checkTubeLabels = 'Check that your name, date of birth and specimen ID on each tube are correct before the staff takes it away.'

const before = {
  walk_in_test: [
    'Choose a collection site that the laboratory accepts and look up its hours. Some sites require an appointment.',
    'Bring a photo ID, your requisition (printed or on your phone), and your insurance card if the order is billed to insurance.',
  ],
  at_home_phlebotomy: [
    'Be at home during the time that you booked, and have a photo ID ready.',
    'Prepare a well-lit place where you can sit or lie down with your arm on a firm surface, near running water. Keep pets in another room.',
  ],
  on_site_collection: ['Go to the collection site at your scheduled time and bring a photo ID.'],
}

const after = {
  walk_in_test: [checkTubeLabels],
  at_home_phlebotomy: [checkTubeLabels, 'The phlebotomist takes the specimen to the laboratory. You do not need to ship anything.'],
  on_site_collection: [checkTubeLabels],
}
