"""Excitations: the random or recorded functions of time that drive an equation, one file each."""

from rode.excitations.excitation import Excitation as Excitation
from rode.excitations.filtered import Filtered as Filtered
from rode.excitations.ou import OU as OU
from rode.excitations.record import Record as Record
from rode.excitations.spectrum import Spectrum as Spectrum
from rode.excitations.sums import Sum as Sum
