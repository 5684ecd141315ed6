"""Parses every message with the Python library hl7, compares the fields with the text, and acknowledges it."""
import glob, os, sys
import hl7

NAMES = {"Zoë", "ZOE", "^~\\&|#"}
failed = 0
files = sorted(glob.glob(os.path.join(sys.argv[1], "*.hl7")))
for path in files:
    data = open(path, "rb").read()
    text = data.decode("utf-8" if b"UNICODE UTF-8" in data else "latin-1")
    try:
        message = hl7.parse(text)
        assert str(message).rstrip("\r") == text.rstrip("\r"), "writes another text"
        control_id = str(message.segment("MSH")[10])
        answer = hl7.parse(str(message.create_ack("AA")))
        assert str(answer.segment("MSA")[2]) == control_id, "acknowledges another message"
        patients = [segment for segment in message if str(segment[0]) == "PID"]
        for patient in patients:
            first_name = message.unescape(str(patient[5][0][1]))
            assert first_name in NAMES, f"reads the first name {first_name!r}"
    except Exception as error:
        failed += 1
        print(f"hl7 (Python): {os.path.basename(path)}: {type(error).__name__}: {error}")
print(f"hl7 (Python) {hl7.__version__}: {len(files) - failed} of {len(files)} parsed and acknowledged")
sys.exit(1 if failed else 0)
