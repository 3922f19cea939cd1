# Drives the fake Cloud Storage with Google's own client, and prints what it understood as one object.
import json

from google.api_core.exceptions import GoogleAPICallError
from google.auth.credentials import AnonymousCredentials
from google.cloud import storage

# The address comes from STORAGE_EMULATOR_HOST.
client = storage.Client(project="simulated", credentials=AnonymousCredentials())
bucket = client.create_bucket("referee-bucket")
TEXT = '{"name": "é",\r\n "auto_scaler": {}}\n'


def refusal(call):
    try:
        call()
        return None
    except GoogleAPICallError as error:
        return [error.code, error.errors[0]["reason"] if error.errors else None]


for name in ["pools/a.json", "pools/team/b #1.json", "other/c"]:
    bucket.blob(name).upload_from_string(TEXT, content_type="application/json")
blob = bucket.get_blob("pools/a.json")
first = blob.generation
bucket.blob("pools/a.json").upload_from_string("changed")
# In chunks of a session, as files of unknown length are sent.
with bucket.blob("pools/large.json", chunk_size=256 * 1024).open("w") as writer:
    writer.write("x" * 600_000)
pages = [[one.name for one in page] for page in client.list_blobs(bucket, prefix="pools/", page_size=2).pages]
folders = client.list_blobs(bucket, prefix="pools/", delimiter="/")
shown = [one.name for one in folders]
bucket.delete_blob("other/c")
print(
    json.dumps(
        {
            "pages": pages,
            "shown": shown,
            "folders": sorted(folders.prefixes),
            # Each download is compared with the checksums of the server.
            "text": bucket.blob("pools/team/b #1.json").download_as_text() == TEXT,
            "large": len(bucket.blob("pools/large.json").download_as_bytes()),
            "newer": bucket.get_blob("pools/a.json").generation > first,
            "replaced": refusal(lambda: bucket.blob("pools/a.json", generation=first).reload()),
            "mustNotExist": refusal(lambda: bucket.blob("pools/a.json").upload_from_string("x", if_generation_match=0)),
            "gone": bucket.get_blob("other/c"),
            "noBucket": refusal(lambda: list(client.list_blobs("no-such-bucket"))),
        }
    )
)
