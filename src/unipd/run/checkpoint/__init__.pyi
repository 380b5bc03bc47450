from unipd.run.checkpoint.checkpoint import DEFAULT_INTERVAL as DEFAULT_INTERVAL
from unipd.run.checkpoint.checkpoint import Checkpoint as Checkpoint
from unipd.run.checkpoint.checkpoint import CheckpointWarning as CheckpointWarning
from unipd.run.checkpoint.codec import register as register
from unipd.run.checkpoint.file import read_checkpoint as read_checkpoint
from unipd.run.checkpoint.checkpoint import Every
from unipd.run.checkpoint.checkpoint import Snapshot
from unipd.run.checkpoint.checkpoint import decode_record
from unipd.run.checkpoint.checkpoint import encode_snapshot
from unipd.run.checkpoint.codec import Packer
from unipd.run.checkpoint.codec import unpack
from unipd.run.checkpoint.file import MAGIC
from unipd.run.checkpoint.file import remove_leftovers
from unipd.run.checkpoint.file import write_checkpoint
from unipd.run.checkpoint.fingerprint import differences
from unipd.run.checkpoint.file import FORMAT
